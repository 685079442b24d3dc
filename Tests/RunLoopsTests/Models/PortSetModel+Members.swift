import TestSupport

// The steps of threads that send to members, close them, add them and remove them.

extension PortSetModel {
    func begin(_ index: Int, in state: inout State) {
        let thread = state.threads[index]
        guard thread.operation < scripts[index].count else {
            state.threads[index].step = .done
            return
        }
        state.threads[index].isTaken = false
        switch operation(index, thread) {
        case .receive, .receiveBeforeDeadline:
            state.threads[index].mayWait = true
            state.threads[index].step = .takesTurn
        case .send(let port): start(.pushes, port)
        case .ring(let port): start(.ringLooks, port)
        case .nudge(let port): start(.nudges, port)
        case .close(let port): start(.closes, port)
        case .add(let port), .remove(let port): start(.takesTurn, port)
        }
        func start(_ step: Thread.Step, _ port: Int) {
            state.threads[index].port = port
            state.threads[index].step = step
        }
    }

    /// Begins the next operation.
    func goOn(_ index: Int, in state: inout State) {
        let made = state.threads[index].made
        let gates = state.threads[index].gates
        let next = state.threads[index].operation + 1
        state.threads[index] = Thread()
        state.threads[index].made = made
        state.threads[index].gates = gates
        state.threads[index].operation = next
        if next == scripts[index].count { state.threads[index].step = .done }
    }

    func stepMembers(_ index: Int, in state: inout State, _ walk: inout Exploration<State>) {
        let thread = state.threads[index]
        let port = thread.port
        func go(to step: Thread.Step) { state.threads[index].step = step }
        switch thread.step {
        case .pushes:
            if state.ports[port].isMailboxClosed { return goOn(index, in: &state) }
            let node = index * 4 + thread.made
            state.threads[index].made += 1
            state.ports[port].mail.append(node)
            state.accepted |= 1 << node
            sendSignal(index, in: &state)
        case .ringLooks: if state.ports[port].isClosed { goOn(index, in: &state) } else { go(to: .rings) }
        case .rings:
            state.ports[port].wasRung = true
            ring(index, in: &state)
        case .nudges, .closeNudges:
            if state.ports[port].armed == 0 {
                let isRung = state.ports[port].bell == .rung
                state.ports[port].bell = isRung ? .rung : .nudged
            } else {
                state.ports[port].bell = .nudged
            }
            if fault == .closeRings && thread.step == .closeNudges { state.ports[port].bell = .rung }
            sendSignal(index, in: &state)
        case .closes:
            if state.ports[port].isClosed { return goOn(index, in: &state) }
            state.ports[port].isClosed = true
            go(to: .mailboxCloses)
        case .mailboxCloses:
            state.ports[port].isMailboxClosed = true
            nodesGo(state.ports[port].mail.removeAll(), in: &state, &walk)
            if ports[port] { go(to: .closeNudges) } else { sendSignal(index, in: &state) }
            if fault == .signalOfCloseDropped { go(to: .destroyLooks) }
        case .takesBack:
            takeBack(thread.member, in: &state, &walk)
            go(to: .tellsSet)
        case .tellsSet:
            append(thread.member, in: &state)
            let wakes = !state.ready.isEmpty && fault != .becameReadyWakesNoThread
            if wakes, let gate = state.waiting.popFirst() { state.threads[index].opens.append(gate) }
            go(to: .opensGates)
        case .opensGates:
            for gate in thread.opens.elements { state.openGates |= 1 << gate }
            state.threads[index].opens = SmallQueue()
            afterOpening(index, in: &state)
        case .addLooks:
            if state.members[port] != 0 {
                stopReceiving(index, in: &state)
                goOn(index, in: &state)
            } else {
                state.threads[index].member = makeMember(of: port, in: &state)
                go(to: .addClaims)
            }
        case .addClaims:
            if state.ports[port].claim == .none || state.ports[port].claim == .set {
                state.ports[port].claim = .set
                state.hasSignal[thread.member] = 1
                go(to: .addInserts)
            } else if !state.ports[port].isClosed {
                walk.fail("a set is refused a port that no other one has")
            } else if tellsEnd {
                go(to: .addInserts)
            } else {
                stopReceiving(index, in: &state)
                goOn(index, in: &state)
            }
        case .addInserts:
            state.isIn[thread.member] = 1
            state.members[port] = thread.member
            go(to: ports[port] ? .bellArms : .takes)
            // `PortSetMember.arm` without a signal, because the port has ended.
            if state.hasSignal[thread.member] == 0 { go(to: .becomesReady) }
            if fault == .addWithoutArming { go(to: .opensGates) }
            if state.threads[index].step == .becomesReady || fault == .addWithoutArming {
                stopReceiving(index, in: &state)
            }
        case .removeLooks:
            state.threads[index].member = state.members[port]
            go(to: .detaches)
            if state.members[port] == 0 {
                stopReceiving(index, in: &state)
                goOn(index, in: &state)
            }
        case .detaches, .disarms, .givesUp: detach(index, in: &state, &walk)
        case .destroyLooks:
            let destroys =
                state.ports[port].isClosed && !(isReceiver(index, thread) && fault == .noDestroyByReceiver)
            if destroys { go(to: .takesClaim) } else { isDetached(index, in: &state) }
        case .takesClaim:
            if state.ports[port].claim == .none {
                state.ports[port].claim = .port
                go(to: .destroys)
            } else {
                isDetached(index, in: &state)
            }
        case .destroys:
            checkClaim(.port, port, in: state, &walk)
            nodesGo(state.ports[port].backlog.removeAll(), in: &state, &walk)
            go(to: .givesUpAgain)
        case .givesUpAgain:
            state.ports[port].claim = .none
            isDetached(index, in: &state)
        default: preconditionFailure("another step")
        }
    }

    private func isReceiver(_ index: Int, _ thread: Thread) -> Bool {
        operation(index, thread) == .receive || operation(index, thread) == .receiveBeforeDeadline
    }

    /// `Doorbell.ring`.
    private func ring(_ index: Int, in state: inout State) {
        state.ports[state.threads[index].port].bell = .rung
        sendSignal(index, in: &state)
    }

    /// Takes the signal with which the mailbox or bell is armed, and sends it.
    private func sendSignal(_ index: Int, in state: inout State) {
        let port = state.threads[index].port
        let member = state.ports[port].armed
        state.ports[port].armed = 0
        state.threads[index].member = member
        state.threads[index].step = .takesBack
        if member == 0 { afterOpening(index, in: &state) }
    }

    /// The next step after all gates were opened.
    private func afterOpening(_ index: Int, in state: inout State) {
        let thread = state.threads[index]
        switch operation(index, thread) {
        case .close where state.ports[thread.port].isMailboxClosed && thread.step != .done:
            state.threads[index].step = .destroyLooks
        case .receive, .receiveBeforeDeadline:
            // The operation ends if something was received or the last member has left. Otherwise the thread looks again.
            if thread.isTaken { goOn(index, in: &state) } else { state.threads[index].step = .takesTurn }
        default: goOn(index, in: &state)
        }
    }

    /// `PortSetCore.detach`, under the lock of `receiving`.
    private func detach(_ index: Int, in state: inout State, _ walk: inout Exploration<State>) {
        let thread = state.threads[index]
        let port = thread.port
        switch thread.step {
        case .detaches:
            if state.members[port] == thread.member { state.members[port] = 0 }
            state.isIn[thread.member] = 0
            if state.current == thread.member && fault != .removedStaysCurrent { state.current = 0 }
            if fault != .removedStaysInLine {
                state.ready.remove(thread.member)
                state.isInLine[thread.member] = 0
            }
            let isEmpty = ports.indices.allSatisfy { state.members[$0] == 0 }
            if isEmpty && fault != .lastMemberWakesNoThread {
                state.threads[index].opens.append(state.waiting.removeAll())
            }
            state.threads[index].step = state.hasSignal[thread.member] == 1 ? .disarms : .destroyLooks
            if state.hasSignal[thread.member] == 0 { stopReceiving(index, in: &state) }
        case .disarms:
            if state.ports[port].armed == thread.member && fault != .ceaseWithoutDisarm {
                state.ports[port].armed = 0
                takeBack(thread.member, in: &state, &walk)
            }
            state.threads[index].step = .givesUp
        case .givesUp:
            checkClaim(.set, port, in: state, &walk)
            state.hasSignal[thread.member] = 0
            if fault != .ceaseWithoutGivingUp { state.ports[port].claim = .none }
            stopReceiving(index, in: &state)
            state.threads[index].step = .destroyLooks
        default: preconditionFailure("another step")
        }
    }

    /// The next step after `destroyWhatIsLeft`: the rest of `close`, or of `didDetach`, which opens the gates.
    private func isDetached(_ index: Int, in state: inout State) {
        let thread = state.threads[index]
        switch operation(index, thread) {
        case .close: goOn(index, in: &state)
        case .receive, .receiveBeforeDeadline:
            state.threads[index].isTaken = tellsEnd
            state.threads[index].step = .opensGates
            if !tellsEnd && thread.opens.isEmpty { state.threads[index].step = .takesTurn }
        default: state.threads[index].step = .opensGates
        }
    }
}
