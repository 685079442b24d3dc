import TestSupport

// Parts of a loop's steps, in which it takes messages in, hands them out, and arms.

extension PortModel {
    /// The rest of `PortCore.join`, up to `PortInput.arm`.
    func join(_ index: Int, in state: inout State) {
        if state.input == 0 {
            state.signalsMade += 1
            state.signalLoop[state.signalsMade] = index
            state.input = state.signalsMade
        }
        state.loops[index].input = state.input
        state.loops[index].place = .joining
        state.loops[index].step = .takeLooks
        if fault == .joinWithoutTaking { state.loops[index].step = merges ? .bellArmsUnlessRung : .armLooks }
    }

    /// The exchange of `Mailbox.take`.
    func take(_ index: Int, in state: inout State, _ walk: inout Exploration<State>) {
        guard state.word == state.loops[index].seen else {
            state.loops[index].seen = state.word
            if state.word == .closed { mailIsTaken(index, in: &state, &walk) }
            return
        }
        checkClaim(.loop(index), in: state, &walk)
        switch state.word {
        case .newest(let node): state.backlog.append(unlink(node, in: &state, &walk))
        case .armed: walk.fail("an armed mailbox is taken from")
        case .empty, .closed: break
        }
        state.word = .empty
        mailIsTaken(index, in: &state, &walk)
    }

    func mailIsTaken(_ index: Int, in state: inout State, _ walk: inout Exploration<State>) {
        let loop = state.loops[index]
        state.loops[index].seen = .empty
        checkClaim(.loop(index), in: state, &walk)
        let hasMail = !state.backlog.isEmpty
        switch loop.place {
        case .joining:
            if hasMail {
                queue(loop.input, index, in: &state)
                state.loops[index].step = .joinLooksAgain
            } else {
                state.loops[index].step = merges ? .bellArmsUnlessRung : .armLooks
            }
        case .serving: state.loops[index].step = .nextLooks
        case .ringing:
            if hasMail { state.loops[index].step = .bellArms } else { endServing(index, in: &state) }
        case .afterRing: state.loops[index].step = .nextLooks
        }
    }

    /// `PortCore.next`, and what follows.
    func next(_ index: Int, in state: inout State, _ walk: inout Exploration<State>) {
        let loop = state.loops[index]
        let end: Loop.Step = merges ? .ringEndLooks : .endLooks
        state.loops[index].step = end
        if loop.input != loop.serving || state.isClosed { return }
        checkClaim(.loop(index), in: state, &walk)
        if state.backlog.isEmpty { return }
        if !merges {
            // The pass has no budget left.
            walk.reach(state)
        }
        guard let node = state.backlog.popFirst() else { return }
        nodeGoes(node, isDelivered: true, in: &state, &walk)
        state.loops[index].step = merges ? .nextLooks : .handler
    }

    /// The end of `PortInput.serveMessages`.
    func endLooks(_ index: Int, in state: inout State) {
        let loop = state.loops[index]
        if state.isClosed && loop.input == loop.serving {
            state.loops[index].serving = 0
            state.loops[index].step = .disarmLooks
        } else if loop.input != loop.serving || state.isOut[loop.serving] == 1 {
            endServing(index, in: &state)
        } else {
            state.loops[index].place = .serving
            state.loops[index].step = .armLooks
        }
    }

    /// `PortCore.arm`.
    func arm(_ index: Int, in state: inout State, _ walk: inout Exploration<State>) {
        let loop = state.loops[index]
        var isArmed: Bool?
        if loop.step == .armLooks {
            checkClaim(.loop(index), in: state, &walk)
            if !state.backlog.isEmpty && fault != .armBesideBacklog {
                isArmed = false
            } else {
                giveOut(loop.input, in: &state, &walk)
                if state.word != .empty {
                    takeBack(loop.input, in: &state, &walk)
                    isArmed = false
                }
                state.loops[index].step = .armExchanges
            }
        } else if state.word == .empty || fault == .armByStore && state.word != .closed {
            state.word = .armed(loop.input)
            isArmed = true
        } else {
            takeBack(loop.input, in: &state, &walk)
            isArmed = false
        }
        guard let isArmed else { return }
        if !isArmed { queue(loop.input, index, in: &state) }
        if loop.place == .joining {
            state.loops[index].step = .joinLooksAgain
        } else {
            endServing(index, in: &state)
        }
    }

    /// `Doorbell.arm`, in `PortInput.serveRing`.
    func armBell(_ index: Int, in state: inout State, _ walk: inout Exploration<State>) {
        giveOut(state.loops[index].serving, in: &state, &walk)
        if case .armed = state.bell { walk.fail("a bell is armed twice") }
        let isAnswered = state.bell == .rung
        if isAnswered && !state.wasRung { walk.fail("a signal is delivered that was not sent") }
        if isAnswered { state.wasRung = false }
        state.bell = .armed(state.loops[index].serving)
        state.loops[index].place = .afterRing
        state.loops[index].step = isAnswered ? .handler : .takeLooks
    }
}
