internal import DequeModule

/// Serves a C library that owns several descriptors and a deadline, and has no thread and no loop of its own.
///
/// Libraries such as libcurl, hiredis, c-ares and libpq leave the waiting to your program: they name the descriptors and the
/// events to watch, and the latest time at which they want to be called. Pass both on to the source. Its loop calls `service`
/// once in a pass for all descriptors that are ready. There, take one ``Report`` after the other, and call the library for
/// each.
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
/// next polls it.
///
/// The library still owns the descriptors. Stop watching a descriptor, by setting an empty interest, before its number is used
/// for another file. If the library closes a descriptor that the source still watches, the source does not end the program.
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
    ///   - onInvalidation: Called once, when the source is invalidated or the thread of its loop ends: release the library's
    ///     objects for this source there. It is called on that thread. If the last reference to the source is dropped while it
    ///     is in no loop, it is not called.
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
    /// Setting the interest that the descriptor has costs nothing. If you stop watching the descriptor, its pending reports
    /// are discarded. Pending reports of events that are no longer of interest are discarded, too. So after this call
    /// ``nextReport()`` returns none of them.
    ///
    /// If the kernel cannot watch the descriptor, the next call of `service` gets one report of it with the readiness
    /// ``DescriptorSource/Readiness/error``: for a regular file or a directory, which is always ready; for a descriptor that
    /// is closed; and if the kernel has no room. The source tries again when you set an interest again. On an invalid source
    /// this does nothing.
    ///
    /// - Parameters:
    ///   - interest: The events to watch the descriptor for; `[]` to stop watching it. Do that before its number is used
    ///     again.
    ///   - descriptor: The descriptor.
    public func setInterest(_ interest: DescriptorSource.Interest, of descriptor: CInt) {
        _ = loop?.requireCurrent("LibrarySource.setInterest")
        if isValid && state.value.group.setInterest(interest, of: descriptor) { noteChange() }
    }

    /// The latest date at which the library wants to be called; nil for none, and at first.
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
    /// One call of `service` gets at most 64 reports. The remaining descriptors, and those whose reports you do not take, are
    /// reported in the next pass. The kernel decides the order, and reports no descriptor twice before it has reported all
    /// others.
    ///
    /// - Returns: The report, or nil if there is none left, and outside of `service`.
    public func nextReport() -> Report? { isValid ? takeReport() : nil }

    /// True inside `service` if the deadline has passed.
    ///
    /// It is true only in the first call of `service` after the date.
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
        // Released last, once all state is consistent: an object that the closures hold may call back while that object is
        // destroyed.
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
