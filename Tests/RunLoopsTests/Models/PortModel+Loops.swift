import TestSupport

// The steps of a loop that has the port: those that add the port, and those that serve it.

extension PortModel {
    struct Loop: Hashable {
        enum Step: Hashable {
            /// Between passes, or in a run inside a handler: the loop takes mail, serves, begins the next operation, or sleeps.
            case idle
            /// `PortCore.join`: the load of the flag, `Claim.take`, and the load after arming.
            case joinLooks, joinClaims, joinLooksAgain
            /// The load and the exchange of `Mailbox.take`, in `PortCore.takeMail`.
            case takeLooks, takeExchanges
            /// `PortCore.arm`: the backlog, and the load and the exchange of `Mailbox.arm`.
            case armLooks, armExchanges
            /// `Doorbell.armUnlessRung`, in `PortInput.arm`.
            case bellArmsUnlessRung
            /// The load of the flag in `PortInput.serve`.
            case serveLooks
            /// `PortCore.next` and `take`: the load of the flag, and the oldest node.
            case nextLooks
            /// The handler, in which the loop can begin another operation.
            case handler
            /// The load of the flag at the end of `PortInput.serveMessages`.
            case endLooks
            /// `PortInput.serveRing`: `Doorbell.isNudgedOrRung`, `Doorbell.arm`, and the load of the flag at the end.
            case bellLooks, bellArms, ringEndLooks
            /// `PortCore.close` on the loop's own thread, and `LoopCore.end`.
            case closes, mailboxCloses, ends
            /// The load and the exchange of `Mailbox.disarm` or `Doorbell.disarm`, in `PortInput.didLeave`.
            case disarmLooks, disarmExchanges
            /// `PortInput.didLeave`: the release of the input, and `Claim.release`.
            case forgets, givesUp
            /// `PortCore.destroyWhatIsLeft`: the load of the flag, `Claim.takeIfFree`, the destruction, and `Claim.release`.
            case leftLooks, takesClaim, destroys, givesUpAgain
            case done
        }

        /// The step of the loop after it has taken its mail or armed the mailbox.
        enum Place: Hashable { case joining, serving, ringing, afterRing }

        var step = Step.idle
        var place = Place.joining
        var operation = 0
        /// The signal of the port's place in the loop, or 0 if it has none.
        var input = 0
        /// The signals of the inputs that wait to be served.
        var queued = SmallQueue()
        /// The signal of the input that is being served, and of the one whose handler runs the loop again; 0 if there is none.
        var serving = 0
        var outer = 0
        var seen = Word.empty
        /// The signal with which the bell was armed when the loop loaded it.
        var seenSignal = 0
        /// True if senders can still see the claim that this loop has released.
        var hasUnseenEnd = false
        /// True if the port leaves at the loop's end; below, if it leaves after a close by the loop.
        var isEnding = false
        var isClosing = false
    }

    /// - Returns: False if the thread cannot take a step.
    func stepLoop(_ index: Int, in before: State, _ walk: inout Exploration<State>) -> Bool {
        var state = before
        let loop = before.loops[index]
        if loop.hasUnseenEnd {
            drainClaim(index, in: &state)
            walk.reach(state)
            state = before
        }
        switch loop.step {
        case .idle: return idle(index, in: before, &walk)
        case .handler:
            // The handler returns, or begins the next operation.
            state.loops[index].step = merges ? .takeLooks : .nextLooks
            if merges { state.loops[index].place = .afterRing }
            if loop.input != loop.serving { endServing(index, in: &state) }
            walk.reach(state)
            state = before
            guard begin(index, inHandler: true, in: &state) else { return true }
        case .joinLooks:
            state.loops[index].step = .joinClaims
            if state.isClosed { afterOperation(index, in: &state) }
        case .joinClaims:
            drainClaim(index, in: &state)
            if state.claim == .none {
                state.claim = .loop(index)
                join(index, in: &state)
            } else if state.isClosed {
                afterOperation(index, in: &state)
            } else {
                walk.fail("a loop is refused a port that no other one has")
            }
        case .joinLooksAgain:
            if state.isClosed {
                state.loops[index].step = .disarmLooks
            } else {
                afterOperation(index, in: &state)
            }
        case .takeLooks:
            state.loops[index].seen = state.word
            state.loops[index].step = .takeExchanges
            if state.word == .empty || state.word == .closed { mailIsTaken(index, in: &state, &walk) }
        case .takeExchanges: take(index, in: &state, &walk)
        case .armLooks, .armExchanges: arm(index, in: &state, &walk)
        case .bellArmsUnlessRung:
            if state.bell == .quiet || fault == .joinArmsRung {
                giveOut(loop.input, in: &state, &walk)
                state.bell = .armed(loop.input)
            } else {
                state.loops[index].queued.append(loop.input)
            }
            state.loops[index].step = .joinLooksAgain
        case .serveLooks:
            if state.isClosed {
                state.loops[index].serving = 0
                state.loops[index].step = .disarmLooks
            } else if state.isOut[loop.serving] == 1 && fault != .takeWhileOut {
                endServing(index, in: &state)
            } else {
                state.loops[index].place = .serving
                state.loops[index].step = merges ? .bellLooks : .takeLooks
            }
        case .nextLooks: next(index, in: &state, &walk)
        case .endLooks: endLooks(index, in: &state)
        case .bellLooks:
            state.loops[index].place = .ringing
            let isCalled = state.bell == .nudged || state.bell == .rung
            state.loops[index].step = isCalled ? .bellArms : .takeLooks
        case .bellArms: armBell(index, in: &state, &walk)
        case .ringEndLooks:
            if state.isClosed && loop.input == loop.serving && fault != .noLookAfterRing {
                queue(loop.serving, index, in: &state)
            }
            endServing(index, in: &state)
        case .closes, .mailboxCloses, .ends, .disarmLooks, .disarmExchanges, .forgets, .givesUp, .leftLooks,
            .takesClaim, .destroys, .givesUpAgain:
            leave(index, in: &state, &walk)
        case .done: return loop.hasUnseenEnd
        }
        walk.reach(state)
        return true
    }

    // MARK: - Between passes

    private func idle(_ index: Int, in before: State, _ walk: inout Exploration<State>) -> Bool {
        var canStep = before.loops[index].hasUnseenEnd
        var state = before
        // `LoopCore.sortMail`.
        if let signal = state.mail[index].popFirst() {
            takeBack(signal, in: &state, &walk)
            if signal == state.loops[index].input { queue(signal, index, in: &state) }
            walk.reach(state)
            canStep = true
        }
        state = before
        // `ReadyInputs.servePorts`.
        if let signal = state.loops[index].queued.popFirst() {
            if signal == state.loops[index].input {
                state.loops[index].serving = signal
                state.loops[index].step = .serveLooks
            }
            walk.reach(state)
            canStep = true
        }
        state = before
        if begin(index, inHandler: false, in: &state) {
            walk.reach(state)
            canStep = true
        }
        if before.loops[index].outer != 0 {
            // The run inside the handler returns.
            state = before
            state.loops[index].serving = before.loops[index].outer
            state.loops[index].outer = 0
            state.loops[index].step = .handler
            walk.reach(state)
            canStep = true
        }
        return canStep
    }

    /// - Returns: False if there is no next operation, or it cannot begin now.
    private func begin(_ index: Int, inHandler: Bool, in state: inout State) -> Bool {
        let loop = state.loops[index]
        guard loop.operation < loops[index].count else { return false }
        switch loops[index][loop.operation] {
        case .join:
            // The earlier loops are done with the port, or are about to remove it.
            if case .loop = state.claim { return false }
            for other in 0..<index where state.loops[other].operation < loops[other].count { return false }
            state.loops[index].step = .joinLooks
        case .leave:
            if loop.input == 0 { return state.isClosed && skip(index, in: &state) }
            state.loops[index].step = .disarmLooks
        case .run:
            if !inHandler || loop.outer != 0 { return state.isClosed && skip(index, in: &state) }
            state.loops[index].outer = loop.serving
            queue(loop.serving, index, in: &state)
            state.loops[index].serving = 0
            state.loops[index].step = .idle
        case .close:
            // Made by the loop that has the port. On any other thread, a close is an operation of that thread.
            if loop.input == 0 { return state.isClosed && skip(index, in: &state) }
            state.loops[index].step = .closes
        case .end:
            if inHandler || loop.outer != 0 { return false }
            state.loops[index].step = .ends
        }
        state.loops[index].operation += 1
        return true
    }

    private func skip(_ index: Int, in state: inout State) -> Bool {
        state.loops[index].operation += 1
        return true
    }

    /// The next step after an operation that began in a handler or outside.
    func afterOperation(_ index: Int, in state: inout State) {
        state.loops[index].step = state.loops[index].serving != 0 ? .handler : .idle
    }

    func endServing(_ index: Int, in state: inout State) {
        state.loops[index].serving = 0
        state.loops[index].step = .idle
    }

    func queue(_ signal: Int, _ index: Int, in state: inout State) {
        if signal == state.loops[index].input && !state.loops[index].queued.contains(signal) {
            state.loops[index].queued.append(signal)
        }
    }
}
