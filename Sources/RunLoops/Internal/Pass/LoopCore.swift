/// The core of a loop: its parts, such as timers and ports, and the pass, which serves each part in turn.
///
/// Each part owns its lists, and no other part touches them. The pass is a sequence of steps, which are calls of the parts.
/// `LoopCore+Pass` contains the order of the steps, `LoopCore+Waiting` the sleep between them, and `LoopCore+Ending` the end of the
/// thread. An input, such as a timer, calls only the part that it belongs to, and never the pass.
///
/// > Thread safety: the loop's own thread only.
final class LoopCore: LoopParts {
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

    /// The loop's access to the main dispatch queue.
    var mainQueue: MainQueueAccess

    /// The state of the pass itself, which belongs to none of the parts.
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    private var state = State()

    private struct State: ~Copyable {
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

    // Swift checks each access to a class's property for another access that is still under way. A pass reads so many properties
    // that these checks took a third of the time of a wake-up. So the state is stored without these checks; see
    // ``ExclusivityUnchecked``.

    /// The nested runs of the loop: their number, and the requests that have not yet taken effect on them.
    var runs: RunStack {
        @inline(__always) _read { yield state.runs }
        @inline(__always) _modify { yield &state.runs }
    }

    /// The way in which the loop waits for work, and the measurements that it is based on.
    var waiting: Waiting {
        @inline(__always) _read { yield state.waiting }
        @inline(__always) _modify { yield &state.waiting }
    }

    /// The time at which this pass last read the clock.
    var now: Moment {
        @inline(__always) get { state.now }
        @inline(__always) set { state.now = newValue }
    }

    // MARK: - Mail

    /// Takes the messages and signals that other threads have sent, and passes each to the part of the loop that serves it.
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
        // If a watchdog began to watch during this pass, the handlers of messages that were sent after that moment are recorded,
        // too.
        members.handlers.lookAgain()
        handle.counters.takenNodes.add(mail.count)
        var blockCount = 0
        while let node = mail.popFirst() {
            switch node.kind {
            case .block, .blockInModes, .parcel, .parcelInModes, .job, .preferredJob:
                blocks.append(node)
                blockCount += 1
            case .signal: readyInputs.becameReady(ReadyNode.takeRetained(node))
            case .control: runs.requests.formUnion(handle.takeRequests())
            }
        }
        handle.counters.takenBlocks.add(blockCount)
    }

    // MARK: - Modes

    /// Makes a mode common, so that it gets all inputs that were added to the common modes.
    func addCommonMode(_ mode: Mode) {
        guard members.addCommonMode(mode) else { return }
        // If the mode is running, the kernel must now watch the descriptors of its new inputs.
        descriptors.lookAgain()
        lookAgain()
    }

    /// Notifies the parts of the loop that the modes have changed.
    ///
    /// A part sets work aside if the running mode does not allow that work. On this call, each part checks whether its work is
    /// allowed now.
    func lookAgain() {
        blocks.modesDidChange()
        readyInputs.modesDidChange()
        timers.modesDidChange()
    }

    /// Returns the date on which the next timer of a mode is due; `never` if the mode has no timer, nil if the mode is empty.
    func nextFire(in mode: Mode) -> Moment? {
        guard holdsAnything(in: mode, isCommon: members.modes.isCommon(mode)) else { return nil }
        var next = Moment.never
        for case let timer as Timer in members.inputs where timer.membership.contains(mode) {
            next = min(next, timer.date)
        }
        return next
    }
}
