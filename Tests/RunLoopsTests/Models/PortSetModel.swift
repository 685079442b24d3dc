import TestSupport

/// A finite state machine of a port set, its receivers, and threads that send to members, close, add and remove them.
///
/// Each step is one operation on shared state, and has the name of the function that makes it. The steps of receivers are in
/// `PortSetModel+Receiving`, all others in `PortSetModel+Members`. A critical section of the line's lock is one step, because no
/// other lock is acquired in it. The lock of `receiving` is held over many steps. An operation of a mailbox or bell is one step
/// here, because `PortModel` shows that these operations have a total order.
struct PortSetModel {
    /// The operations of a thread, in which ports are numbered from 0.
    enum Operation: Hashable, Sendable {
        /// `PortSet.receive` without a deadline, and with one that can pass at any moment.
        case receive, receiveBeforeDeadline
        case send(Int)
        /// `Port<Void>.send` and `Doorbell.nudge`, for a port without messages.
        case ring(Int), nudge(Int)
        /// `Port.invalidate`.
        case close(Int)
        /// `PortSet.add` and `remove`.
        case add(Int), remove(Int)
    }

    /// A step that is missing, or made at the wrong time.
    enum Fault: CaseIterable {
        // In `PortSetCore.look`.
        case lookOutsideTurn, moreIsForgotten, leavesLineAfterArming, currentBesideSleeper
        // In `PortSetCore.receive` and `becameReady`.
        case sleepWithoutLooking, sleepsOutsideTurn, timeoutWithoutLooking, becameReadyWakesNoThread
        // In `PortSetCore.detach` and `didDetach`, `remove` and `add`.
        case lastMemberWakesNoThread, removedStaysInLine, removedStaysCurrent, removeOutsideTurn,
            noDestroyByReceiver,
            addWithoutArming
        // In `PortSetMember`.
        case ceaseWithoutDisarm, ceaseWithoutGivingUp, noLookAfterBell
        // In `PortCore.close` and `ReadyNode.send`.
        case signalOfCloseDropped, closeRings, removedMemberIsPutInLine
    }

    let scripts: [[Operation]]
    /// For each port, true if it has no messages, only signals.
    var ports = [false]
    /// The ports that are members at the beginning.
    var members = [0]
    /// True if the end of a member is received.
    var tellsEnd = true
    var fault: Fault?

    /// A port with its mailbox, its bell and its claim.
    struct PortState: Hashable {
        var mail = SmallQueue()
        var isClosed = false
        var isMailboxClosed = false
        /// The member with whose signal the mailbox or bell is armed, or 0 if it is not armed.
        var armed = 0
        var bell = Bell.quiet
        var claim = Holder.none
        /// Guarded by the claim.
        var backlog = SmallQueue()
        /// True if a sender has rung since the bell was last answered.
        var wasRung = false
    }

    enum Bell: Hashable { case quiet, nudged, rung }
    enum Holder: Hashable { case none, set, port }

    struct State: Hashable {
        var ports: [PortState]
        /// The thread that holds the lock of `receiving`, counted from 1, or 0 if none does.
        var receiving = 0
        /// Guarded by the lock of `receiving`: the member that a receiver has kept, or 0.
        var current = 0

        // Guarded by the lock of the line.
        /// For each port its member, counted from 1, or 0 if it has none; a port that is added again gets another member.
        var members = Octets()
        var ready = SmallQueue()
        var waiting = SmallQueue()
        var isInLine = Octets()

        // The members.
        var membersMade = 0
        var portOf = Octets()
        var isIn = Octets()
        var hasSignal = Octets()
        var isOut = Octets()

        /// The open gates, as bits.
        var openGates = 0
        // For the checks only: nodes as bits.
        var accepted = 0
        var gone = 0

        var threads: [Thread]
    }

    /// Visits every state that can be reached.
    func explore() -> Exploration<State> {
        var start = State(ports: ports.map { _ in PortState() }, threads: scripts.map { _ in Thread() })
        for port in members {
            let member = makeMember(of: port, in: &start)
            start.ports[port].claim = .set
            start.hasSignal[member] = 1
            start.isIn[member] = 1
            start.members[port] = member
            start.ports[port].armed = member
            start.isOut[member] = 1
        }
        return Exploration(from: start) { state, walk in
            var isAtRest = true
            for index in scripts.indices where step(index, in: state, &walk) { isAtRest = false }
            if isAtRest { checkRest(state, &walk) }
        }
    }

    func makeMember(of port: Int, in state: inout State) -> Int {
        state.membersMade += 1
        state.portOf[state.membersMade] = port
        return state.membersMade
    }

    /// `Line.append`.
    func append(_ member: Int, in state: inout State) {
        let isRefused = state.isIn[member] == 0 && fault != .removedMemberIsPutInLine
        if isRefused || state.isInLine[member] == 1 { return }
        state.isInLine[member] = 1
        state.ready.append(member)
    }

    /// `ReadyNode.retainedNode`.
    func giveOut(_ member: Int, in state: inout State, _ walk: inout Exploration<State>) {
        if state.isOut[member] == 1 { walk.fail("a signal's node is in two places") }
        state.isOut[member] = 1
    }

    /// `ReadyNode.takeRetained`.
    func takeBack(_ member: Int, in state: inout State, _ walk: inout Exploration<State>) {
        if state.isOut[member] == 0 { walk.fail("a signal is released twice") }
        state.isOut[member] = 0
    }

    func nodesGo(_ nodes: SmallQueue, in state: inout State, _ walk: inout Exploration<State>) {
        for node in nodes.elements {
            if state.gone & 1 << node != 0 { walk.fail("a message came twice") }
            state.gone |= 1 << node
        }
    }

    /// Checks that only the holder of the claim accesses the state that the claim guards.
    func checkClaim(_ holder: Holder, _ port: Int, in state: State, _ walk: inout Exploration<State>) {
        if state.ports[port].claim != holder { walk.fail("two threads touch what a claim guards") }
    }

    /// Checks a state in which no thread can take a step.
    private func checkRest(_ state: State, _ walk: inout Exploration<State>) {
        let sleepers = state.threads.count { $0.step == .waits }
        for thread in state.threads where thread.step != .waits && thread.step != .done {
            walk.fail("a thread waits for ever")
        }
        if sleepers > 0 && (!state.ready.isEmpty || state.current != 0) {
            walk.fail("a receiver sleeps, and a member is ready")
        }
        if state.current != 0 && state.isIn[state.current] == 0 { walk.fail("a removed member is kept") }
        if sleepers > 0 && ports.indices.allSatisfy({ state.members[$0] == 0 }) {
            walk.fail("a receiver sleeps, and the set is empty")
        }
        var waiting = 0
        for (index, port) in state.ports.enumerated() {
            for node in port.mail.elements + port.backlog.elements { waiting |= 1 << node }
            let member = state.members[index]
            let hasMail = !port.mail.isEmpty || !port.backlog.isEmpty || port.wasRung
            if member == 0 {
                if port.claim != .none { walk.fail("a claim is left") }
                if port.isClosed && !(port.mail.isEmpty && port.backlog.isEmpty) {
                    walk.fail("a message outlives its port")
                }
            } else if state.isInLine[member] == 0 && state.current != member {
                if hasMail || port.isClosed { walk.fail("a member is not in the line, and has something") }
                if port.armed != member { walk.fail("no sender can put a member into the line") }
            }
            for other in 1..<state.membersMade + 1 where state.portOf[other] == index {
                if state.isOut[other] == 1 && port.armed != other { walk.fail("a signal is left") }
                if other != member && state.isOut[other] == 1 { walk.fail("a signal is left") }
            }
        }
        if state.gone | waiting != state.accepted { walk.fail("a message was lost") }
    }
}
