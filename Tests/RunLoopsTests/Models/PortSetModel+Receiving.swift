import TestSupport

// The steps of a thread that receives.

extension PortSetModel {
    struct Thread: Hashable {
        enum Step: Hashable {
            case begins
            /// `PortSetCore.look`: the lock of `receiving`, the first member in line, and the load of its flag.
            case takesTurn, popsReady, closedLooks
            /// `PortSetMember.take`: `PortCore.takeMail`, `takeIntoOwnNode`, and `arm`, or `Doorbell.arm` and the load of the flag.
            case takes, takesAlone, arms, bellArms, bellClosedLooks
            /// `PortSetCore.look`: a member without a message is put back, or a member becomes ready once more.
            case putsBack, becomesReady
            /// `PortSetCore.receive`: the part under the line's lock, the wait for the gate, and the gate's removal from the line.
            case enters, waits, leavesWaiting
            /// `PortSetCore.detach`: the line, and `disarm` and `Claim.release` in `PortSetMember.cease`.
            case detaches, disarms, givesUp
            /// `PortCore.destroyWhatIsLeft`: the load of the flag, `Claim.takeIfFree`, the destruction, and `Claim.release`.
            case destroyLooks, takesClaim, destroys, givesUpAgain
            /// `PortCore.send`, `Doorbell.ring`, `Doorbell.nudge`.
            case pushes, ringLooks, rings, nudges
            /// `PortCore.close`: the flag, `Mailbox.close`, and the nudge.
            case closes, mailboxCloses, closeNudges
            /// `ReadyNode.send`: `takeRetained`, and the line and the gates in `PortSetCore.becameReady`.
            case takesBack, tellsSet, opensGates
            /// `PortSetCore.add`: the line, `Claim.take`, and the line again; `remove`: the line.
            case addLooks, addClaims, addInserts, removeLooks
            case done
        }

        var step = Step.begins
        var operation = 0
        /// The number of nodes that the thread has made; below, the number of gates.
        var made = 0
        var gates = 0
        var port = 0
        var member = 0
        var mayWait = false
        var isTaken = false
        /// The gates that the thread has still to open.
        var opens = SmallQueue()
    }

    /// - Returns: False if the thread cannot take a step.
    func step(_ index: Int, in before: State, _ walk: inout Exploration<State>) -> Bool {
        var state = before
        let thread = before.threads[index]
        func go(to step: Thread.Step) { state.threads[index].step = step }
        switch thread.step {
        case .begins: begin(index, in: &state)
        case .takesTurn:
            let needsNone =
                switch operation(index, thread) {
                case .receive, .receiveBeforeDeadline: fault == .lookOutsideTurn
                case .remove: fault == .removeOutsideTurn
                default: false
                }
            if state.receiving != 0 && !needsNone { return false }
            state.receiving = index + 1
            go(to: .popsReady)
            if case .add = operation(index, thread) { go(to: .addLooks) }
            if case .remove = operation(index, thread) { go(to: .removeLooks) }
        case .popsReady:
            if state.current != 0 && state.ready.isEmpty {
                state.threads[index].member = state.current
                state.threads[index].port = state.portOf[state.current]
                go(to: .closedLooks)
                break
            }
            if state.current != 0 { append(state.current, in: &state) }
            state.current = 0
            guard let member = state.ready.popFirst() else {
                // The thread begins to wait before it releases the lock of `receiving`.
                if fault == .sleepsOutsideTurn || fault == .sleepWithoutLooking {
                    stopReceiving(index, in: &state)
                    go(to: .enters)
                } else {
                    enter(index, in: &state)
                    stopReceiving(index, in: &state)
                }
                break
            }
            if fault != .leavesLineAfterArming { state.isInLine[member] = 0 }
            if !state.ready.isEmpty && thread.opens.isEmpty, let gate = state.waiting.popFirst() {
                state.threads[index].opens.append(gate)
            }
            state.threads[index].member = member
            state.threads[index].port = state.portOf[member]
            go(to: .closedLooks)
        case .closedLooks:
            let next: Thread.Step = ports[thread.port] ? .bellArms : .takes
            go(to: state.ports[thread.port].isClosed ? .detaches : next)
        case .takes:
            checkClaim(.set, thread.port, in: state, &walk)
            if state.ports[thread.port].armed != 0 { walk.fail("an armed mailbox is taken from") }
            state.ports[thread.port].backlog.append(state.ports[thread.port].mail.removeAll())
            if case .add = operation(index, thread) { go(to: .arms) } else { go(to: .takesAlone) }
        case .takesAlone:
            checkClaim(.set, thread.port, in: state, &walk)
            if !state.ports[thread.port].isClosed, let node = state.ports[thread.port].backlog.popFirst() {
                var taken = SmallQueue()
                taken.append(node)
                nodesGo(taken, in: &state, &walk)
                state.threads[index].isTaken = true
            }
            go(to: .arms)
        case .arms:
            let hasMore = !arm(index, in: &state, &walk)
            afterArming(index, hasMore: hasMore, in: &state)
        case .bellArms: armBell(index, in: &state, &walk)
        case .bellClosedLooks:
            let hasMore = state.ports[thread.port].isClosed && fault != .noLookAfterBell
            afterArming(index, hasMore: hasMore, in: &state)
        case .putsBack:
            append(thread.member, in: &state)
            go(to: .popsReady)
        case .becomesReady:
            append(thread.member, in: &state)
            if !state.ready.isEmpty, let gate = state.waiting.popFirst() {
                state.threads[index].opens.append(gate)
            }
            go(to: .opensGates)
        case .enters: enter(index, in: &state)
        case .waits:
            let gate = index * 4 + thread.gates % 4
            let isOpen = state.openGates & 1 << gate != 0
            if operation(index, thread) == .receiveBeforeDeadline {
                // The deadline has passed.
                state.threads[index].mayWait = false
                go(to: .leavesWaiting)
                walk.reach(state)
                state = before
                if !isOpen { return true }
            }
            if !isOpen { return false }
            state.openGates &= ~(1 << gate)
            go(to: .takesTurn)
        case .leavesWaiting:
            state.waiting.remove(index * 4 + thread.gates % 4)
            if fault == .timeoutWithoutLooking { goOn(index, in: &state) } else { go(to: .takesTurn) }
        case .done: return false
        default: stepMembers(index, in: &state, &walk)
        }
        walk.reach(state)
        return true
    }

    func operation(_ index: Int, _ thread: Thread) -> Operation { scripts[index][thread.operation] }

    func stopReceiving(_ index: Int, in state: inout State) {
        if state.receiving == index + 1 { state.receiving = 0 }
    }

    /// `PortCore.arm`.
    ///
    /// - Returns: False if the port has messages, or is closed.
    private func arm(_ index: Int, in state: inout State, _ walk: inout Exploration<State>) -> Bool {
        let thread = state.threads[index]
        let port = state.ports[thread.port]
        if state.hasSignal[thread.member] == 0 { return false }
        checkClaim(.set, thread.port, in: state, &walk)
        if !port.backlog.isEmpty { return false }
        giveOut(thread.member, in: &state, &walk)
        if port.mail.isEmpty && !port.isMailboxClosed {
            state.ports[thread.port].armed = thread.member
            return true
        }
        takeBack(thread.member, in: &state, &walk)
        return false
    }

    /// `Doorbell.arm`, or `armUnlessRung` in `PortSetMember.arm`.
    private func armBell(_ index: Int, in state: inout State, _ walk: inout Exploration<State>) {
        let thread = state.threads[index]
        let port = state.ports[thread.port]
        if port.armed != 0 { walk.fail("a bell is armed twice") }
        state.threads[index].step = .bellClosedLooks
        if case .add = operation(index, thread) {
            if port.bell != .quiet { return afterArming(index, hasMore: true, in: &state) }
            giveOut(thread.member, in: &state, &walk)
            state.ports[thread.port].armed = thread.member
            return
        }
        giveOut(thread.member, in: &state, &walk)
        if port.bell == .rung && !port.wasRung { walk.fail("a signal is received that was not sent") }
        if port.bell == .rung { state.ports[thread.port].wasRung = false }
        state.threads[index].isTaken = port.bell == .rung
        state.ports[thread.port].bell = .quiet
        state.ports[thread.port].armed = thread.member
    }

    /// The next step after a member was armed, or was found to have more messages.
    private func afterArming(_ index: Int, hasMore: Bool, in state: inout State) {
        let thread = state.threads[index]
        if fault == .leavesLineAfterArming { state.isInLine[thread.member] = 0 }
        var isReceived = thread.isTaken
        if case .add = operation(index, thread) { isReceived = true }
        if case .add = operation(index, thread) {} else { state.current = 0 }
        if isReceived {
            var tells = hasMore && fault != .moreIsForgotten
            if case .add = operation(index, thread) {
            } else if tells && (state.waiting.isEmpty || fault == .currentBesideSleeper) {
                state.current = thread.member
                tells = false
            }
            stopReceiving(index, in: &state)
            state.threads[index].step = tells ? .becomesReady : .opensGates
        } else {
            state.threads[index].step = hasMore ? .putsBack : .popsReady
        }
    }

    /// The part of `PortSetCore.receive` after a look that has found no message.
    private func enter(_ index: Int, in state: inout State) {
        let thread = state.threads[index]
        // If the look has taken a gate out of the line, the thread opens that gate first.
        if !thread.opens.isEmpty {
            state.threads[index].step = .opensGates
            return
        }
        if !state.ready.isEmpty && fault != .sleepWithoutLooking {
            state.threads[index].step = .takesTurn
        } else if ports.indices.allSatisfy({ state.members[$0] == 0 }) || !thread.mayWait {
            goOn(index, in: &state)
        } else {
            state.threads[index].gates += 1
            state.waiting.append(index * 4 + state.threads[index].gates % 4)
            state.threads[index].step = .waits
        }
    }
}
