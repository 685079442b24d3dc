import TestSupport

// The steps of a thread that holds the lock of the line and serves the waiting senders.

extension RoomModel {
    struct Pump: Hashable {
        enum Step: Hashable {
            /// The load and the exchange of `Mailbox.pushIfRoom` for the first in line, of which a handler needs the load only.
            case pushLooks, pushExchanges
            /// `PortQueue.serve`: the store of `waitingCount`.
            case waitingStores
            /// `PortQueue.bringRoomUpToDateLocked`: the loads of `handedOut` and `roomReturned`, and the store of `roomReturned`.
            case roomLooks, roomStores
            /// The exchange of `Mailbox.addRoom`, and a load if a fault makes the exchange a store.
            case roomMoves, roomMovesLate
        }

        var step = Step.pushLooks
        /// False if the thread only updates the room.
        var serves = true
        var seen = Word()
        var handedOut = 0
        var added = 0
    }

    /// - Returns: True if the pump is done.
    func stepPump(_ pump: inout Pump, in state: inout State, _ walk: inout Exploration<State>) -> Bool {
        var own = pump
        defer { pump = own }
        switch own.step {
        case .pushLooks:
            guard let first = state.line.first, !state.word.isClosed else { return true }
            if senders[first][state.senders[first].operation].isHandler {
                return stepPumpAtHandler(first, &own, in: &state, &walk)
            }
            own.seen = state.word
            let fits = hasRoom(state.word, for: state.senders[first].count)
            own.step = fits ? .pushExchanges : .roomLooks
            if !fits && fault == .lineWithoutNewRoom { return true }
        case .pushExchanges:
            guard let first = state.line.first, isUnchanged(state.word, since: own.seen) else {
                own = Pump()
                return false
            }
            let sender = state.senders[first]
            push(sender.count, senders[first][sender.operation], in: &state, &walk)
            _ = state.line.popFirst()
            state.outcomes[first] = 1
            own = Pump(step: .waitingStores)
        case .waitingStores:
            state.waitingCount = state.line.count
            own = Pump()
        case .roomLooks:
            own.seen = Word()
            if state.handedOut == state.roomReturned { return true }
            own.handedOut = state.handedOut
            own.added = state.handedOut - state.roomReturned
            own.step = .roomStores
        case .roomStores:
            if fault != .roomNotNoted { state.roomReturned = own.handedOut }
            own.handedOut = 0
            own.step = .roomMoves
        case .roomMoves:
            if fault == .roomAddedByStore {
                own.seen = state.word
                own.step = .roomMovesLate
                return false
            }
            addRoom(&own, to: state.word, in: &state)
            return !own.serves
        case .roomMovesLate:
            addRoom(&own, to: own.seen, in: &state)
            return !own.serves
        }
        return false
    }

    /// Takes the first in line, which is a handler, out of the line if there is room for a message.
    ///
    /// - Returns: True if the pump is done.
    private func stepPumpAtHandler(
        _ first: Int, _ pump: inout Pump, in state: inout State, _ walk: inout Exploration<State>
    ) -> Bool {
        if fault == .handlerNotCalled { return true }
        if state.word.room == 0 && fault != .handlerCalledWithoutRoom {
            pump.step = .roomLooks
            return fault == .lineWithoutNewRoom
        }
        if isFull(for: 1, in: state) { walk.fail("a handler is called for room that there is not") }
        _ = state.line.popFirst()
        state.outcomes[first] = 1
        pump = Pump(step: .waitingStores)
        return false
    }

    private func addRoom(_ pump: inout Pump, to word: Word, in state: inout State) {
        if !state.word.isClosed {
            state.word = word
            state.word.room += pump.added
        }
        pump = Pump(serves: pump.serves)
    }
}
