internal import DequeModule

/// The descriptor sources of one loop.
///
/// It owns the list of sources, what the loop knows of their descriptors, the retries after a refusal by the kernel, and the
/// list of sources that the kernel has reported and that have not been served.
///
/// > Thread safety: the loop's own thread only.
final class LoopDescriptors {
    let members: LoopMembers
    let poller: Poller

    /// The sources, each at its `watch.position`.
    private var sources: [DescriptorSource] = []
    private var files = WatchedDescriptors()
    /// Read before each sleep: without the checks that a class's properties cost, which ``ExclusivityUnchecked`` argues.
    private let retry = ExclusivityUnchecked(WatchRetry())

    /// The mode whose descriptors the kernel watches; nil if that must be looked at again.
    private(set) var watchedMode: RunLoop.Mode? { didSet { modeDidChange() } }

    /// True if the kernel watches the descriptors of the current mode, and has all changes.
    ///
    /// Kept, because each pass asks: the names of the two modes are compared when one of them changes.
    private(set) var isUpToDate = true

    /// Inputs with changes that the kernel gets before it is next asked.
    ///
    /// Looked at in each pass: without the checks that a class's properties cost, as ``ready``.
    private let changed = ExclusivityUnchecked([any KernelChanging]())

    /// An event that no source has; exists while the loop has sources.
    private var spareEvent: Event?

    /// Sources that were ready when the kernel was last asked, and have not been served.
    ///
    /// Looked at in each pass: without the checks that a class's properties cost, which ``ExclusivityUnchecked`` argues.
    private let ready = ExclusivityUnchecked(Deque<DescriptorSource>())

    init(_ members: LoopMembers, _ poller: Poller) {
        self.members = members
        self.poller = poller
    }

    // MARK: - The pass's side

    /// Notes that another mode runs, or none.
    func modeDidChange() { isUpToDate = watchedMode == members.currentMode && changed.value.isEmpty }

    /// The moment at which the loop tries again to watch descriptors that the kernel has refused; `never` if there are none.
    var nextRetry: Moment { retry.value.moment }

    /// The number of sources that are ready, in any mode.
    var readyCount: Int { ready.value.count }

    /// True if a source in the current mode is ready.
    var holdsReady: Bool { @inline(__always) get { !ready.value.isEmpty && holdsReadyInMode } }

    private var holdsReadyInMode: Bool {
        @inline(never) get {
            guard let mode = members.currentMode else { return false }
            return ready.value.contains { $0.membership.contains(mode) }
        }
    }

    /// Makes the kernel watch the descriptors of the current mode, and only those, for what their sources want.
    ///
    /// Between two waits in one mode this is one look at ``isUpToDate``, unless there are changes, or the kernel has refused some.
    @inline(__always)
    func watch() { if !isUpToDate { watchCurrentMode() } }

    private func watchCurrentMode() {
        while let input = changed.value.popLast() { input.makeChange(in: self) }
        modeDidChange()
        if isUpToDate { return }
        watchedMode = members.currentMode
        guard let mode = members.currentMode else { return }
        retry.value.beginLook()
        for source in sources { source.setWanted(source.membership.contains(mode), in: self) }
        if retry.value.endLook() { watchedMode = nil }
    }

    /// Looks again at what the kernel is to watch: the common modes are others, or the kernel has refused a descriptor.
    func lookAgain() { watchedMode = nil }

    /// Calls the handlers of the descriptors that were ready when the step began.
    ///
    /// - Returns: True if a handler had anything to serve.
    @inline(__always)
    func serve() -> Bool { !ready.value.isEmpty && serveReady() }

    private func serveReady() -> Bool {
        var rest = ready.value.count
        var handled = false
        while rest > 0, !ready.value.isEmpty, let mode = members.currentMode {
            rest -= 1
            let source = ready.value.removeFirst()
            if source.membership.contains(mode) {
                source.watch.isReady = false
                if source.serve(in: self) { handled = true }
            } else if source.membership.loop != nil {
                // Ready in the mode of an outer run, or of a run inside a handler of this step: last in the list, where that
                // one finds it.
                ready.value.append(source)
            } else {
                // Removed meanwhile, and no longer in the list, should it be added again.
                source.watch.isReady = false
            }
        }
        return handled
    }

    /// Forgets the sources that are ready: the loop has ended.
    func end() { ready.value.removeAll() }

    /// Closes the descriptors that the loop has opened for its sources.
    func close() {
        spareEvent = nil
        files.end()
    }

    // MARK: - The source's side

    /// Takes in a source whose event is about to be made.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - startWatching: Has the kernel watch it.
    /// - Throws: `SystemError` if the kernel refuses. The source is not taken in then.
    func append(
        _ source: DescriptorSource, startWatching: () throws(SystemError) -> Void
    ) throws(SystemError) {
        switch try files.join(source.descriptor, source.trigger) {
        case .admitted: break
        case .otherTrigger: source.endForOtherTrigger()
        case .otherFile:
            let other = sources.first { $0.descriptor == source.descriptor }
            guard let other else {
                preconditionFailure("a descriptor that is known has a source in the loop")
            }
            other.endForClosedDescriptor()
        }
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

    /// Releases a source that has left its last mode, and whose event was freed.
    ///
    /// - Returns: False if its descriptor was closed before.
    func remove(_ source: DescriptorSource) -> Bool {
        let wasOpen = files.leave(source.descriptor)
        let last = sources.removeLast()
        if last !== source {
            sources[source.watch.position] = last
            last.watch.position = source.watch.position
        }
        return wasOpen
    }

    /// Takes a source out of a mode, or out of all common modes.
    func remove(_ source: DescriptorSource, from mode: RunLoop.Mode) {
        members.remove(source, from: mode)
        source.update()
    }

    /// True if a source's descriptor stands for the file that it stood for when the source joined.
    func stillHolds(_ descriptor: CInt) -> Bool { files.holds(descriptor) }

    /// Notes an input with a change that the kernel has not got.
    func noteChange(of input: any KernelChanging) {
        changed.value.append(input)
        isUpToDate = false
    }

    /// Forgets the change of an input that leaves the loop.
    func forgetChange(of input: any KernelChanging) { changed.value.removeAll { $0 === input } }

    /// Takes the event that no source has, for a source that gives another one back.
    func takeSpareEvent() -> Event {
        guard let event = spareEvent.take() else {
            preconditionFailure("a loop with a source has a spare event")
        }
        return event
    }

    /// Keeps an event that a source has given back.
    func keepSpareEvent(_ event: consuming Event) { spareEvent = consume event }

    /// True if several sources of the loop watch a descriptor.
    func isShared(_ descriptor: CInt) -> Bool { files.isShared(descriptor) }

    /// Puts a source that is ready in line.
    func append(ready source: DescriptorSource) { ready.value.append(source) }

    /// True if this look at all sources tries those again that the kernel has refused; otherwise notes that one is left out.
    func retriesNow() -> Bool {
        if retry.value.isDue { return true }
        retry.value.leaveOut()
        return false
    }

    /// Notes that the kernel has refused to watch a descriptor: each pass looks again.
    func wasRefused() {
        retry.value.wasRefused()
        lookAgain()
    }
}
