internal import DequeModule

/// Serves a C library that owns several descriptors and a deadline, and has no thread and no loop of its own.
///
/// Libraries such as libcurl, hiredis, c-ares and libpq leave the waiting to your program: they say which descriptors they want
/// watched for what, and when they want to be called at the latest. Pass both on to the source. Its loop calls `service` once
/// in a pass for all that is ready; ask there for one ``Report`` after the other, and call the library for each.
///
/// ```swift
/// let source = try LibrarySource { source in
///     while let report = source.nextReport() { library.process(report.descriptor, report.readiness) }
///     if source.deadlineHasPassed { library.processTimeout() }
/// }
/// try RunLoop.current.add(source, forMode: .default)
/// ```
///
/// Every member may be used inside `service`, and inside the library's callbacks. ``setInterest(_:of:)`` and ``deadline`` only
/// note what the library wants, so they never fail and never call back. The kernel gets all changes together, before the loop
/// next asks it for what is ready.
///
/// The descriptors stay the library's. Let go of a descriptor, by setting an empty interest, before its number is used for
/// another file. If the library closes a descriptor that the source still watches, the source does not end the program.
///
/// While `service` runs, a run of the loop inside it does not call it again. What becomes ready meanwhile is served afterwards.
///
/// <doc:Libraries> builds an adapter from scratch, and lists for several libraries which calls belong where.
///
/// > Thread safety: one thread; once it is added, the thread of its loop.
public final class LibrarySource {
    /// False for good once the source was invalidated.
    public private(set) var isValid = true

    private var service: ((LibrarySource) -> Void)?
    private var onInvalidation: (() -> Void)?
    let origin: SourceLocation
    /// The state that each report reads and writes; `LibrarySource+Serving` names its parts.
    ///
    /// Stored without exclusivity checks; see ``ExclusivityUnchecked``.
    let state = ExclusivityUnchecked(State())

    /// Makes a source that is in no loop yet, and watches nothing.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - onInvalidation: Called once, when the source is invalidated or the thread of its loop ends: the place to release
    ///     what the library has for this source. It is called on that thread. If the last reference to the source is dropped
    ///     while it is in no loop, it is not called.
    ///   - service: Called on the loop's thread with the source, when descriptors are ready or the deadline has passed. The
    ///     source holds it until the source is invalidated.
    /// - Throws: ``SystemError`` if the kernel refuses a set of descriptors, because the process has no descriptor left
    ///   (`EMFILE`) or the kernel has no room (`ENFILE`, `ENOMEM`).
    public init(
        fileID: StaticString = #fileID, line: Int = #line, onInvalidation: (() -> Void)? = nil,
        service: @escaping (LibrarySource) -> Void
    ) throws(SystemError) {
        origin = SourceLocation(fileID, line)
        state.value.set = try EpollSet()
        self.service = service
        self.onInvalidation = onInvalidation
    }

    /// Changes the events that a descriptor is watched for, or stops watching it.
    ///
    /// Setting the interest that the descriptor has costs nothing. Reports of a descriptor that were on their way are dropped
    /// if you let go of it, and those of events that are not of interest any more are, too, so after this call ``nextReport()``
    /// returns none of them.
    ///
    /// If the kernel cannot watch the descriptor, the next call of `service` gets one report of it with the readiness
    /// ``DescriptorSource/Readiness/error``: for a regular file or a directory, which is always ready; for a descriptor that is
    /// closed; and if the kernel has no room. It is tried again when you set an interest again. On an invalid source this does
    /// nothing.
    ///
    /// - Parameters:
    ///   - interest: The events to watch the descriptor for; `[]` to let go of it. Do that before its number is used again.
    ///   - descriptor: The descriptor.
    public func setInterest(_ interest: DescriptorSource.Interest, of descriptor: CInt) {
        _ = loop?.requireCurrent("LibrarySource.setInterest")
        if isValid && state.value.group.setInterest(interest, of: descriptor) { noteChange() }
    }

    /// The date at which the library wants to be called at the latest; nil for none, as at first.
    ///
    /// When the date has come, `service` is called once with ``deadlineHasPassed``, and the deadline is nil from then on. A
    /// date of now or earlier means the next pass, which does not sleep. You may set it as often as you like: the loop's alarm
    /// is set when the loop sleeps. Setting the deadline of an invalid source does nothing.
    public var deadline: ContinuousClock.Instant? {
        get { state.value.deadline }
        set {
            _ = loop?.requireCurrent("LibrarySource.deadline")
            if isValid { setDeadline(newValue) }
        }
    }

    /// True if the source keeps its modes alive, so that a run in them goes on; true at first.
    ///
    /// A library that waits for nothing at the moment should not keep a run from finishing. You may set it at any time.
    public var keepsModesAlive: Bool {
        get { state.value.keepsModesAlive }
        set {
            _ = loop?.requireCurrent("LibrarySource.keepsModesAlive")
            if isValid { setKeepsModesAlive(newValue) }
        }
    }

    /// Takes the next report, if it is called inside `service`.
    ///
    /// There are at most 64 in one call of `service`. Descriptors that are left, and reports that you do not take out, are
    /// reported in the next pass. The order is the kernel's, in which none is reported twice before all others were.
    ///
    /// - Returns: The report, or nil if there is none left, and outside of `service`.
    public func nextReport() -> Report? { isValid ? takeReport() : nil }

    /// True inside `service` if the deadline has passed.
    ///
    /// Only the first call of `service` after the date has it.
    public var deadlineHasPassed: Bool { state.value.deadlineHasPassed }

    /// Removes the source from its loop for good, releases `service`, and calls `onInvalidation`.
    ///
    /// `service` does not start any more; if it runs, ``nextReport()`` returns nil from now on. Calling it again does nothing.
    public func invalidate() {
        if !isValid { return }
        _ = loop?.requireCurrent("LibrarySource.invalidate")
        isValid = false
        let released = (service, onInvalidation)
        service = nil
        onInvalidation = nil
        // Leaving the loop releases what may be the last reference.
        withExtendedLifetime(self) { takeApart() }
        released.1?()
        // Released last, when all state is in order: an object that they hold may call back while it is destroyed.
        withExtendedLifetime(released) {}
    }

    /// Calls the user's `service` closure.
    func callService() { service?(self) }
}

@available(*, unavailable)
extension LibrarySource: Sendable {}

extension LibrarySource: CustomStringConvertible {
    /// The place where the source was made.
    public var description: String { "library source made at \(origin)" }
}
