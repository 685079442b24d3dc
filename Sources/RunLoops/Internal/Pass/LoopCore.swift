/// The pass of a loop, and the parts that it serves in turn.
///
/// Each part owns its lists and is the only one to touch them. The pass asks a part for its step: `LoopCore+Pass` is the order
/// of the steps, `LoopCore+Waiting` the sleep between them, and `LoopCore+Ending` the end of the thread. An input talks to the
/// part that it belongs to, and knows nothing of the pass.
///
/// > Thread safety: the loop's own thread only.
final class LoopCore {
    let handle: LoopHandle
    let poller: Poller

    // The parts.
    let members: LoopMembers
    let timers: LoopTimers
    let descriptors: LoopDescriptors
    let readyInputs: ReadyInputs
    let observers: LoopObservers
    let blocks: LoopBlocks
    let deferredWork: DeferredWorkList
    let ending = LoopEnding()

    /// The main dispatch queue, as this loop has it.
    var mainQueue: MainQueueAccess

    /// The state of the pass itself.
    private let state = ExclusivityUnchecked(State())

    private struct State {
        var runs = RunStack()
        var waiting = Waiting()
        var now = Moment(nanoseconds: 0)
    }

    init(handle: LoopHandle, executors: Executors, isMain: Bool) throws(SystemError) {
        self.handle = handle
        poller = try Poller(wakeup: handle.wakeup.descriptor)
        mainQueue = isMain ? .outOfReach : .ofAnotherLoop
        timers = LoopTimers()
        members = LoopMembers(handle, HandlerCaller(handle, timers))
        descriptors = LoopDescriptors(members, poller)
        readyInputs = ReadyInputs(members)
        observers = LoopObservers(members)
        blocks = LoopBlocks(members, executors)
        deferredWork = DeferredWorkList(members)
    }

    // Swift checks an access to a class's property for another one that is still going on. A pass looked at so many of these
    // that the checks were a third of all that a wake-up cost; here they are spared, which ``ExclusivityUnchecked`` argues.

    /// The runs on the stack, and the requests that have not yet taken effect.
    var runs: RunStack {
        @inline(__always) _read { yield state.value.runs }
        @inline(__always) _modify { yield &state.value.runs }
    }

    /// The way in which the loop waits, and what it has learned about waiting.
    var waiting: Waiting {
        @inline(__always) _read { yield state.value.waiting }
        @inline(__always) _modify { yield &state.value.waiting }
    }

    /// The clock, as last read in this pass.
    var now: Moment {
        @inline(__always) get { state.value.now }
        @inline(__always) set { state.value.now = newValue }
    }

    // MARK: - Mail

    /// Sorts what other threads have sent to where it is served.
    @inline(__always)
    func takeMail() {
        racePoint(.mailLooks)
        let word = handle.mailbox.current
        if word.node == nil && !word.isArmed { return }
        sortMail()
    }

    @inline(never)
    private func sortMail() {
        var mail = handle.mailbox.take()
        // A message that was sent after another thread began to watch is watched, also in a pass that was under way then.
        members.handlers.lookAgain()
        while let node = mail.popFirst() {
            switch node.kind {
            case .block, .blockInModes, .parcel, .parcelInModes, .job, .preferredJob: blocks.append(node)
            case .signal: readyInputs.becameReady(ReadyNode.takeRetained(node))
            case .control: runs.requests.formUnion(handle.takeRequests())
            }
        }
    }

    // MARK: - Modes

    /// Makes a mode common: it gets all that was added to the common modes.
    func addCommonMode(_ mode: RunLoop.Mode) {
        guard members.addCommonMode(mode) else { return }
        // The set of descriptors that the kernel is to watch may have grown.
        descriptors.lookAgain()
        lookAgain()
    }

    /// Puts back in line what was put aside for not being in the current mode.
    func lookAgain() {
        blocks.modesDidChange()
        readyInputs.modesDidChange()
        timers.modesDidChange()
    }

    /// The date of the next timer of a mode, `never` if it has none, nil if the mode holds nothing.
    func nextFire(in mode: RunLoop.Mode) -> Moment? {
        guard holdsAnything(in: mode, isCommon: members.modes.isCommon(mode)) else { return nil }
        var next = Moment.never
        for case let timer as Timer in members.inputs where timer.membership.contains(mode) {
            next = min(next, timer.date)
        }
        return next
    }
}
