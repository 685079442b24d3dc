internal import DequeModule

/// Serves a C library that owns several descriptors and a deadline, but has no thread and no loop.
///
/// Libraries such as libcurl, hiredis, c-ares and libpq leave the waiting to your program: they name the descriptors and events to
/// watch, and the time by which they must be called again. Pass all of this on to the source. The loop calls `service` at most once
/// in a pass, in the step of the ports, for all ready descriptors. In `service`, take one ``Report`` after another, and call the
/// library for each report.
///
/// ```swift
/// let source = try LibrarySource { source in
///     while let report = source.nextReport() { library.process(report.descriptor, report.readiness) }
///     if source.deadlineHasPassed { library.processTimeout() }
/// }
/// try RunLoop.current.add(source, forMode: .default)
/// ```
///
/// You can use every member inside `service`, and inside the library's callbacks. ``setInterest(_:of:)`` and ``deadline`` only
/// store the new values, so they never fail and never call back. The kernel gets all changes together, before the loop next polls
/// the kernel.
///
/// The library still owns the descriptors. Stop watching a descriptor, by setting an empty interest, before its number is used for
/// another file. If the library closes a descriptor that the source still watches, the program continues. In the
/// same case, a ``DescriptorSource`` ends the program.
///
/// While `service` runs the loop, the loop does not call `service` again. Descriptors that become ready in the meantime are served
/// afterwards.
///
/// <doc:Libraries> builds an adapter from scratch, and shows where the calls of several libraries belong in it.
///
/// > Thread safety: ``invalidate()`` and ``isValid`` from any thread (<doc:Ends>). All other members from one thread; after the
/// > source is added, from the thread of its loop.
public final class LibrarySource {
    /// True until the source is invalidated.
    ///
    /// > Thread safety: any thread.
    public var isValid: Bool { !end.hasEnded }
    package let end = InputEnd()

    fileprivate var service: ((LibrarySource) -> Void)?
    fileprivate var onInvalidation: (() -> Void)?
    let origin: SourceLocation
    /// The mutable state; `LibrarySource+Serving` declares its parts.
    ///
    /// The state is stored without exclusivity checks, because the source reads and writes the state for each report; see
    /// ``ExclusivityUnchecked``.
    let state = ExclusivityUnchecked(State())

    /// Makes a source that is in no loop yet, and watches nothing.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - onInvalidation: Called once, on the loop's thread, when the source is invalidated or the thread of the loop ends. In
    ///     this closure, release the library's objects for this source. The closure is not called if the last reference to the
    ///     source is released while the source is in no loop.
    ///   - service: Called on the loop's thread with the source, when descriptors are ready or the deadline has passed. The source
    ///     holds the closure until the source is invalidated.
    /// - Throws: ``SystemError`` if the kernel refuses to make a set of descriptors, because the process has no descriptor left
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
    /// Setting the interest that the descriptor already has costs nothing. The call discards pending reports of events that are not
    /// in the new interest, so ``nextReport()`` does not return such reports afterwards.
    ///
    /// If the kernel cannot watch the descriptor, the next call of `service` gets one report of the descriptor with the readiness
    /// ``DescriptorSource/Readiness/error``. The kernel refuses to watch regular files and directories, because they are always
    /// ready. It also refuses a closed descriptor, and it refuses any descriptor when it has no room left. The source tries again
    /// when you set an interest again. On an invalid source this method does nothing.
    ///
    /// - Parameters:
    ///   - interest: The events to watch the descriptor for; `[]` to stop watching it. Stop before the descriptor's number is used
    ///     again.
    ///   - descriptor: The descriptor.
    public func setInterest(_ interest: DescriptorSource.Interest, of descriptor: CInt) {
        requireOwnThread("LibrarySource.setInterest")
        if isValid && state.value.group.setInterest(interest, of: descriptor) { noteChange() }
    }

    /// The time by which the library must be called again; nil, the initial value, for no deadline.
    ///
    /// When the deadline has passed, it becomes nil, and the loop calls `service` once. During this call ``deadlineHasPassed`` is
    /// true. If the deadline has already passed when you set it, the loop makes the call in the next pass, and does not sleep
    /// before that. Setting the deadline often is cheap, because the loop sets its alarm only when it sleeps. Setting the deadline
    /// of an invalid source does nothing.
    public var deadline: ContinuousClock.Instant? {
        get { state.value.deadline.instant }
        set {
            requireOwnThread("LibrarySource.deadline")
            if isValid { setDeadline(newValue) }
        }
    }

    /// True if the source keeps its modes alive, so that a run in these modes does not finish; initially true.
    ///
    /// If you want to let a run finish while the library waits for no event, set this to false during that time. You can set it at
    /// any time.
    public var keepsModesAlive: Bool {
        get { state.value.keepsModesAlive }
        set {
            requireOwnThread("LibrarySource.keepsModesAlive")
            if isValid { setKeepsModesAlive(newValue) }
        }
    }

    /// Removes and returns the next report; to be called inside `service`.
    ///
    /// One call of `service` gets at most 64 reports, and at most as many as the budget allows that the source shares with the ports
    /// and the other library sources: <doc:OnePass>. The first report is always allowed. The remaining descriptors, and the
    /// descriptors whose reports you do not take, are reported in the next pass. The kernel decides the order. Before it reports a
    /// descriptor again, it reports all other descriptors that are ready.
    ///
    /// - Returns: The report; nil if no report is left for this call, or if the call is made outside of `service`.
    public func nextReport() -> Report? { isValid ? takeReport() : nil }

    /// True inside `service` if the deadline has passed.
    ///
    /// The property is true only in the first call of `service` after the deadline.
    public var deadlineHasPassed: Bool { state.value.service?.deadlineHasPassed ?? false }

    /// Removes the source from its loop for good, releases `service`, and calls `onInvalidation`.
    ///
    /// `service` does not start afterwards; if it is running, ``nextReport()`` returns nil from now on. A second call does nothing.
    ///
    /// On another thread than the loop's, the loop calls `onInvalidation` on its thread, in its next pass.
    ///
    /// > Thread safety: any thread: <doc:Ends>.
    public func invalidate() { endAnywhere() }

    /// Calls the user's `service` closure.
    func callService() { service?(self) }
}

extension LibrarySource: Removable {
    package func giveBack(inForkedChild isChild: Bool) {
        let released = (service, onInvalidation)
        service = nil
        onInvalidation = nil
        if !isChild {
            // The loop can hold the last reference to this source, and releases it when the source leaves the loop.
            withExtendedLifetime(self) { takeApart() }
            released.1?()
        }
        // The closures are released last, when all state is consistent, because destroying an object that they hold can call
        // back.
        withExtendedLifetime(released) {}
    }
}

@available(*, unavailable)
extension LibrarySource: Sendable {}

extension LibrarySource: CustomStringConvertible {
    /// The place where the source was made.
    public var description: String { "library source made at \(origin)" }
}
