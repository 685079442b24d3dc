internal import DequeModule

/// The descriptor sources of one loop.
///
/// This object owns the list of sources, the record of their descriptors, the retries after refusals by the kernel, and the list of
/// ready sources that have not been served.
///
/// > Thread safety: the loop's own thread only.
final class LoopDescriptors {
    let members: LoopMembers
    let poller: Poller

    /// The sources, each at its `watch.position`.
    private var sources: [DescriptorSource] = []
    /// The table of the watched descriptors.
    ///
    /// The table is stored without exclusivity checks because the loop reads it for each report of the kernel; see
    /// ``ExclusivityUnchecked``.
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    private var files = WatchedDescriptors()
    /// The schedule of the retries after the kernel has refused to watch descriptors.
    ///
    /// The schedule is stored without exclusivity checks because the loop reads it before each sleep; see ``ExclusivityUnchecked``.
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    private var retry = WatchRetry()

    /// The mode whose descriptors the kernel watches.
    ///
    /// If it is nil, the loop must check all sources before the next poll of the kernel.
    private(set) var watchedMode: Mode? { didSet { modeDidChange() } }

    /// True if the kernel watches the descriptors of the current mode, and all changes have been passed to the kernel.
    ///
    /// The value is stored because each pass reads it. So the names of the current mode and of ``watchedMode`` are compared only
    /// after one of these modes has changed, or after changes have been passed to the kernel.
    private(set) var isUpToDate = true

    /// The inputs with pending changes, which must be passed to the kernel before the next poll.
    ///
    /// The list is stored without exclusivity checks because each pass reads it; see ``ExclusivityUnchecked``.
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    private var changed = [any KernelChanging]()

    /// The libevent event for the next source that changes its interest; nil before the loop has its first source.
    private var spareEvent: Event?

    /// The sources that have become ready and have not been served.
    ///
    /// The list is stored without exclusivity checks because each pass reads it; see ``ExclusivityUnchecked``.
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    private var ready = Deque<DescriptorSource>()

    init(_ members: LoopMembers, _ poller: Poller) {
        self.members = members
        self.poller = poller
    }

    // MARK: - The pass's side

    /// Updates ``isUpToDate`` after a change of the current mode or of ``watchedMode``.
    func modeDidChange() { isUpToDate = watchedMode == members.currentMode && changed.isEmpty }

    /// The moment at which the loop tries again to watch refused descriptors; `never` if no descriptor is refused.
    var nextRetry: Moment { retry.moment }

    /// The number of sources that are ready, in any mode.
    var readyCount: Int { ready.count }

    /// True if a source in the current mode is ready.
    var holdsReady: Bool { @inline(__always) get { !ready.isEmpty && holdsReadyInMode } }

    private var holdsReadyInMode: Bool {
        @inline(never) get {
            guard let mode = members.currentMode else { return false }
            return ready.contains { $0.membership.contains(mode) }
        }
    }

    /// Makes the kernel watch exactly the descriptors of the current mode, with the interests of their sources.
    ///
    /// In most passes this only reads ``isUpToDate``. It does more if the mode has changed, if changes must be passed to the
    /// kernel, or if the kernel has refused a descriptor.
    @inline(__always)
    func watch() { if !isUpToDate { watchCurrentMode() } }

    private func watchCurrentMode() {
        while let input = changed.popLast() { input.makeChange(in: self) }
        modeDidChange()
        if isUpToDate { return }
        watchedMode = members.currentMode
        guard let mode = members.currentMode else { return }
        retry.beginLook()
        for source in sources { source.setWanted(source.membership.contains(mode), in: self) }
        if retry.endLook() { watchedMode = nil }
    }

    /// Makes the next ``watch()`` check all sources, because the common modes have changed or the kernel has refused a descriptor.
    func lookAgain() { watchedMode = nil }

    /// Calls the handlers of the sources that are ready when this step of the pass begins.
    ///
    /// - Returns: True if a handler had an event to serve.
    @inline(__always)
    func serve() -> Bool { !ready.isEmpty && serveReady() }

    private func serveReady() -> Bool {
        // The mode is read only once, because a run inside a handler restores the mode before that run returns.
        guard let mode = members.currentMode else { return false }
        var rest = ready.count
        var handled = false
        while rest > 0, !ready.isEmpty {
            rest -= 1
            let source = ready.removeFirst()
            if source.membership.contains(mode) {
                source.watch.isReady = false
                if source.serve(in: self) { handled = true }
            } else if source.membership.loop != nil {
                // The source is ready in the mode of an outer run, or of a run inside a handler of this step. It moves to the
                // end of the list, where that run finds it.
                ready.append(source)
            } else {
                // The source was removed in the meantime. It is marked as not ready, so that it can become ready again after it is
                // added to a loop again.
                source.watch.isReady = false
            }
        }
        return handled
    }

    /// Clears the list of ready sources, because the loop has ended.
    func end() { ready.removeAll() }

    /// Closes the descriptors that the loop has opened for its sources.
    func close() {
        spareEvent = nil
        files.end()
    }

    // MARK: - The source's side

    /// Adds a source to the list, and makes the kernel watch its descriptor.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - startWatching: Makes the source's libevent event, and makes the kernel watch the descriptor.
    /// - Throws: `SystemError` if the kernel refuses. In that case the source is not added.
    func append(
        _ source: DescriptorSource, startWatching: () throws(SystemError) -> Void
    ) throws(SystemError) {
        try admit(source)
        do throws(SystemError) {
            if spareEvent == nil { spareEvent = try Event(poller.base) }
            try startWatching()
        } catch {
            _ = files.leave(source.descriptor)
            throw error
        }
        source.watch.position = sources.count
        sources.append(source)
    }

    /// Adds a source to the record of watched descriptors.
    ///
    /// If another source has the descriptor, other threads may have ended that source, and then have closed the descriptor. So
    /// their hand-overs take effect first.
    private func admit(_ source: DescriptorSource) throws(SystemError) {
        var admission = try files.join(source.descriptor, source.trigger)
        if admission != .admitted && !members.hasNoHandOvers {
            members.takeHandOvers()
            admission = try files.join(source.descriptor, source.trigger)
        }
        switch admission {
        case .admitted: break
        case .otherTrigger: source.endForOtherTrigger()
        case .otherFile:
            let other = sources.first { $0.descriptor == source.descriptor }
            guard let other else {
                preconditionFailure("a descriptor that is known has a source in the loop")
            }
            other.endForClosedDescriptor()
        }
    }

    /// Removes a source from the list, after it has left its last mode and its event was freed.
    ///
    /// - Returns: False if the source's descriptor had already been closed.
    func remove(_ source: DescriptorSource) -> Bool {
        let wasOpen = files.leave(source.descriptor)
        let last = sources.removeLast()
        if last !== source {
            sources[source.watch.position] = last
            last.watch.position = source.watch.position
        }
        return wasOpen
    }

    /// Removes a source from a mode, or from all common modes.
    func remove(_ source: DescriptorSource, from mode: Mode) {
        members.remove(source, from: mode)
        source.update()
    }

    /// True if a descriptor still refers to the same file as when its source joined the loop.
    func stillHolds(_ descriptor: CInt) -> Bool { files.holds(descriptor) }

    /// Adds an input to the list of inputs with pending changes, which must be passed to the kernel before the next poll.
    func noteChange(of input: any KernelChanging) {
        changed.append(input)
        isUpToDate = false
    }

    /// Removes an input from the list of inputs with pending changes, because the input leaves the loop.
    func forgetChange(of input: any KernelChanging) { changed.removeAll { $0 === input } }

    /// Removes and returns the spare event.
    ///
    /// A source calls this when it changes its interest. After that, the source passes its previous event to
    /// ``keepSpareEvent(_:)``.
    func takeSpareEvent() -> Event {
        guard let event = spareEvent.take() else {
            preconditionFailure("a loop with a source has a spare event")
        }
        return event
    }

    /// Stores an event as the spare event, because its source no longer uses it.
    func keepSpareEvent(_ event: consuming Event) { spareEvent = consume event }

    /// True if several sources of the loop watch a descriptor.
    func isShared(_ descriptor: CInt) -> Bool { files.isShared(descriptor) }

    /// Appends a source to the list of ready sources.
    func append(ready source: DescriptorSource) { ready.append(source) }

    /// Returns true if it is time to try again to watch a refused descriptor.
    ///
    /// If it is not time yet, the method records that the descriptor stays unwatched for now.
    func retriesNow() -> Bool {
        if retry.isDue { return true }
        retry.leaveOut()
        return false
    }

    /// Records that the kernel has refused to watch a descriptor, so that each pass checks all sources again.
    func wasRefused() {
        retry.wasRefused()
        lookAgain()
    }
}
