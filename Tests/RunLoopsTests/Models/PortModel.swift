import TestSupport

/// A finite state machine of a port's own mailbox and bell, its senders, a thread that closes it, and the loops that receive.
///
/// Each step is one atomic operation of the library, and has the name of the function that makes it. The steps of senders are in
/// `PortModel+Senders`, those of loops in `PortModel+Loops`, `PortModel+Serving` and `PortModel+Leaving`. Weak exchanges can fail
/// for no reason. The port has no limit; `RoomModel` has one. A loop's own mailbox is a queue here, which `MailboxModel` shows that
/// it is.
///
/// The mailbox's word has no room here. So an exchange succeeds in more interleavings than in the library: even if the word has
/// changed and changed back.
///
/// All shared state is changed by exchanges, except for the release of a claim, which is a sequentially consistent store. One fault
/// makes it a store that waits in the thread's buffer.
struct PortModel {
    /// The operations of a thread that does not receive.
    enum Operation: Hashable, Sendable {
        /// `Port.send` of one message.
        case send
        /// `PortQueue.serve` and `Pump.finish`: the messages of two waiting senders, and then the signals.
        case pump
        /// `Port<Void>.send`.
        case ring
        /// `PortCore.perform` of a notice: a node in the queue, and `Doorbell.nudge`.
        case notify
        /// `Port.invalidate`.
        case close
    }

    /// The operations of a thread with a loop, each of them in a handler of the port or outside.
    enum LoopOperation: Hashable, Sendable {
        /// `RunLoop.add(port)`, unless another loop has the port.
        case join
        /// `RunLoop.remove(port)`.
        case leave
        /// `RunLoop.run` in a handler.
        case run
        /// `Port.invalidate`.
        case close
        /// The thread ends.
        case end
    }

    /// A step that is missing, or made at the wrong time.
    enum Fault: CaseIterable {
        // In `PortCore.arm`, `PortInput.arm` and `PortInput.serve`.
        case armByStore, armBesideBacklog, takeWhileOut, joinWithoutTaking
        // In `PortInput.didLeave`.
        case leaveWithoutDisarm, disarmByStore, claimGivenUpFirst, inputKept, noDestroyByLeaver,
            claimGivenUpLate
        // In `PortCore.close`.
        case signalOfCloseDropped, flagAfterMailbox, noDestroyByCloser, destroyTakesAgain, ownSignalKept
        // In `PortCore.send` and the pump.
        case signalOfPushDropped, oneSignalSlot
        // In `Doorbell` and its uses.
        case closeRings, closeDoesNotNudge, joinArmsRung, noLookAfterRing, nudgeRings, nudgeBeforeNotice
        /// The release of the claim is not ordered before the load of the flag that follows it.
        case claimReleasedOnly
    }

    let operations: [[Operation]]
    let loops: [[LoopOperation]]
    /// True for a port without messages.
    var merges = false
    var fault: Fault?

    /// The word of a mailbox, which can be armed with a signal.
    enum Word: Hashable {
        case empty, closed
        case armed(Int)
        case newest(Int)
    }

    /// The word of a bell, which can be armed with a signal.
    enum Bell: Hashable {
        case quiet, nudged, rung
        case armed(Int)
    }

    /// The holder of the claim.
    enum Holder: Hashable {
        case none
        case loop(Int)
        /// The port: the thread that destroys the remaining messages.
        case port
    }

    struct State: Hashable {
        // Shared by all threads.
        var word = Word.empty
        /// For each linked node, the node to which it is linked, plus 1.
        var links = Octets()
        var bell = Bell.quiet
        var isClosed = false
        var claim = Holder.none
        /// The mail of each loop, which consists of signals.
        var mail: [SmallQueue]
        var hasEnded = Octets()

        // Guarded by the claim.
        var backlog = SmallQueue()
        /// The signal of `PortCore.input`, or 0 if it is nil.
        var input = 0

        // For the checks only: nodes as bits.
        var accepted = 0
        var gone = 0
        /// For each signal, 1 if its node is in the word, with a sender, or in a loop's mail.
        var isOut = Octets()
        var signalLoop = Octets()
        var signalsMade = 0
        /// True if a sender has rung since the bell was last answered.
        var wasRung = false

        var threads: [Thread]
        var loops: [Loop]
    }

    /// Visits every state that can be reached.
    func explore() -> Exploration<State> {
        let start = State(
            mail: loops.map { _ in SmallQueue() }, threads: operations.map { _ in Thread() },
            loops: loops.map { _ in Loop() })
        return Exploration(from: start) { state, walk in
            var isAtRest = true
            for index in operations.indices where stepThread(index, in: state, &walk) { isAtRest = false }
            for index in loops.indices where stepLoop(index, in: state, &walk) { isAtRest = false }
            if isAtRest { checkRest(state, &walk) }
        }
    }

    // MARK: - Nodes and signals

    /// Notes that a message or a notice was delivered or destroyed.
    func nodeGoes(_ node: Int, isDelivered: Bool, in state: inout State, _ walk: inout Exploration<State>) {
        if state.gone & 1 << node != 0 { walk.fail("a message came twice") }
        let earlier = node / 4 * 4
        for other in earlier..<node where isDelivered && state.gone & 1 << other == 0 {
            walk.fail("a message was overtaken")
        }
        state.gone |= 1 << node
    }

    func destroy(_ nodes: SmallQueue, in state: inout State, _ walk: inout Exploration<State>) {
        for node in nodes.elements { nodeGoes(node, isDelivered: false, in: &state, &walk) }
    }

    /// Unlinks the nodes of the word, and returns them from oldest to newest.
    func unlink(_ newest: Int, in state: inout State, _ walk: inout Exploration<State>) -> SmallQueue {
        var nodes = SmallQueue()
        var rest = newest + 1
        while rest > 0 {
            if nodes.count == 8 {
                walk.fail("a node is linked to itself")
                break
            }
            nodes.prepend(rest - 1)
            let next = state.links[rest - 1]
            state.links[rest - 1] = 0
            rest = next
        }
        return nodes
    }

    /// `ReadyNode.retainedNode`.
    func giveOut(_ signal: Int, in state: inout State, _ walk: inout Exploration<State>) {
        if state.isOut[signal] == 1 { walk.fail("a signal's node is in two places") }
        state.isOut[signal] = 1
    }

    /// `ReadyNode.takeRetained`.
    func takeBack(_ signal: Int, in state: inout State, _ walk: inout Exploration<State>) {
        if state.isOut[signal] == 0 { walk.fail("a signal is released twice") }
        state.isOut[signal] = 0
    }

    /// Checks that only the holder of the claim accesses the state that the claim guards.
    func checkClaim(_ holder: Holder, in state: State, _ walk: inout Exploration<State>) {
        if state.claim != holder { walk.fail("two threads touch what a claim guards") }
    }

    // MARK: - Rest

    /// Checks a state in which no thread can take a step.
    private func checkRest(_ state: State, _ walk: inout Exploration<State>) {
        for thread in state.threads where thread.step != .done { walk.fail("a thread waits for ever") }
        var waiting = state
        var left = waiting.backlog
        if case .newest(let node) = state.word { left.append(unlink(node, in: &waiting, &walk)) }
        for node in left.elements { waiting.gone |= 1 << node }
        if waiting.gone != state.accepted { walk.fail("a message was lost") }
        let receiver = state.loops.map(\.input).max() ?? 0
        if state.isClosed || receiver == 0 {
            for signal in 0..<8 where state.isOut[signal] == 1 { walk.fail("a signal is left") }
            if state.claim != .none { walk.fail("a claim is left") }
        }
        if state.isClosed {
            if receiver > 0 || state.input > 0 { walk.fail("a loop keeps a closed port") }
            if !left.isEmpty { walk.fail("a message outlives its port") }
        } else if receiver > 0 {
            if !left.isEmpty { walk.fail("the loop sleeps beside a message") }
            if merges && state.wasRung { walk.fail("a ring was lost") }
            let isArmed = merges ? state.bell == .armed(receiver) : state.word == .armed(receiver)
            if !isArmed { walk.fail("the loop sleeps, and no sender can wake it") }
            for signal in 0..<8 where signal != receiver && state.isOut[signal] == 1 {
                walk.fail("a signal is left")
            }
        }
    }
}
