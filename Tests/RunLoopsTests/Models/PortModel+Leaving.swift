import TestSupport

// The steps in which a port leaves a loop, and those in which a loop closes its port.

extension PortModel {
    func leave(_ index: Int, in state: inout State, _ walk: inout Exploration<State>) {
        let loop = state.loops[index]
        switch loop.step {
        case .closes:
            drainClaim(index, in: &state)
            if state.isClosed { return afterOperation(index, in: &state) }
            state.isClosed = true
            state.loops[index].step = .mailboxCloses
        case .mailboxCloses: closeHere(index, in: &state, &walk)
        case .ends:
            // `Mailbox.close` of the loop's own mailbox, and `LoopBlocks.discard`.
            state.hasEnded[index] = 1
            for signal in state.mail[index].removeAll().elements { takeBack(signal, in: &state, &walk) }
            state.loops[index].queued = SmallQueue()
            state.loops[index].isEnding = true
            state.loops[index].step = loop.input != 0 ? .disarmLooks : .done
        case .disarmLooks:
            if fault == .claimGivenUpFirst { state.claim = .none }
            disarmLooks(index, in: &state)
        case .disarmExchanges: disarm(index, in: &state, &walk)
        case .forgets:
            if fault != .claimGivenUpFirst { checkClaim(.loop(index), in: state, &walk) }
            if fault != .inputKept { state.input = 0 }
            state.loops[index].input = 0
            state.loops[index].step = .givesUp
            state.loops[index].queued = SmallQueue()
            if fault == .claimGivenUpLate { state.loops[index].step = .leftLooks }
        case .givesUp:
            if fault == .claimReleasedOnly {
                state.loops[index].hasUnseenEnd = true
            } else if fault != .claimGivenUpFirst {
                state.claim = .none
            }
            state.loops[index].step = .leftLooks
        case .leftLooks:
            let destroys = state.isClosed && fault != .noDestroyByLeaver
            state.loops[index].step = .takesClaim
            if fault == .claimGivenUpLate {
                if destroys { destroy(state.backlog.removeAll(), in: &state, &walk) }
                state.loops[index].step = .givesUpAgain
            } else if !destroys {
                hasLeft(index, in: &state)
            }
        case .takesClaim:
            drainClaim(index, in: &state)
            if state.claim == .none || state.claim == .port && fault == .destroyTakesAgain {
                state.claim = .port
                state.loops[index].step = .destroys
            } else {
                hasLeft(index, in: &state)
            }
        case .destroys:
            checkClaim(.port, in: state, &walk)
            destroy(state.backlog.removeAll(), in: &state, &walk)
            state.loops[index].step = .givesUpAgain
        case .givesUpAgain:
            state.claim = .none
            hasLeft(index, in: &state)
        default: preconditionFailure("another step")
        }
    }

    /// The rest of `PortCore.close`, from `Mailbox.close` on.
    private func closeHere(_ index: Int, in state: inout State, _ walk: inout Exploration<State>) {
        let signal = closeMailbox(in: &state, &walk)
        if let signal, fault != .ownSignalKept { takeBack(signal, in: &state, &walk) }
        state.loops[index].isClosing = true
        state.loops[index].step = .disarmLooks
    }

    private func disarmLooks(_ index: Int, in state: inout State) {
        let signal = merges ? signalOfBell(state) : signalOfWord(state)
        state.loops[index].seenSignal = signal ?? 0
        state.loops[index].step = signal == nil ? .forgets : .disarmExchanges
        if fault == .leaveWithoutDisarm { state.loops[index].step = .forgets }
    }

    private func disarm(_ index: Int, in state: inout State, _ walk: inout Exploration<State>) {
        let signal = state.loops[index].seenSignal
        let now = merges ? signalOfBell(state) : signalOfWord(state)
        if now == signal || fault == .disarmByStore {
            takeBack(signal, in: &state, &walk)
            if merges { state.bell = .quiet } else if state.word != .closed { state.word = .empty }
        }
        state.loops[index].seenSignal = 0
        state.loops[index].step = .forgets
    }

    private func signalOfBell(_ state: State) -> Int? {
        if case .armed(let signal) = state.bell { signal } else { nil }
    }
    private func signalOfWord(_ state: State) -> Int? {
        if case .armed(let signal) = state.word { signal } else { nil }
    }

    /// The next step of a loop after its port has left it.
    private func hasLeft(_ index: Int, in state: inout State) {
        let loop = state.loops[index]
        if loop.isEnding {
            state.loops[index].step = .done
        } else if loop.isClosing {
            // `close` itself calls `destroyWhatIsLeft` once more.
            state.loops[index].isClosing = false
            state.loops[index].step = .leftLooks
        } else {
            afterOperation(index, in: &state)
        }
    }

    /// Makes the loop's earlier stores visible to all threads, as an exchange of its thread does.
    func drainClaim(_ index: Int, in state: inout State) {
        guard state.loops[index].hasUnseenEnd else { return }
        state.loops[index].hasUnseenEnd = false
        if state.claim == .loop(index) { state.claim = .none }
    }
}
