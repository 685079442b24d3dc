import TestSupport

// The steps of the receiver and of a thread that closes the port.

extension RoomModel {
    struct Receiver: Hashable {
        enum Step: Hashable {
            /// `Mailbox.take`.
            case takes
            /// `PortQueue.didHandOut`: the store of `handedOut`, and the load of `waitingCount`.
            case handsOut, waitingLooks
            /// `PortQueue.serveLine`: the lock, and the pump.
            case locks, pumps
        }

        var step = Step.takes
        /// The number of messages that were taken in and not yet handed out.
        var backlog = 0
        /// The number of stores of `handedOut` that other threads do not see yet.
        var buffered = 0
        /// The number of messages that the receiver will still hand out.
        var handsOut = 0
        var pump = Pump()
    }

    struct Closer: Hashable {
        enum Step: Hashable {
            /// `PortCore.close`: the flag, `Mailbox.close`, and the line.
            case closes, mailboxCloses, endsLine
            case done
        }

        var step: Step
    }

    /// - Returns: False if the thread cannot take a step.
    func stepReceiver(in before: State, _ walk: inout Exploration<State>) -> Bool {
        var state = before
        let receiver = before.receiver
        let hasStores = receiver.buffered > 0
        if hasStores {
            state.receiver.buffered -= 1
            state.handedOut += 1
            walk.reach(state)
            state = before
        }
        switch receiver.step {
        case .takes:
            if state.word.queued == 0 || receiver.handsOut == 0 { return hasStores }
            state.receiver.backlog += state.word.queued
            state.word.queued = 0
            state.receiver.step = fault == .lookingBeforeHandingOut ? .waitingLooks : .handsOut
        case .handsOut:
            if receiver.backlog == 0 || receiver.handsOut == 0 {
                state.receiver.step = .takes
                break
            }
            state.receiver.backlog -= 1
            state.receiver.handsOut -= 1
            state.receiver.buffered += 1
            let looksFirst = fault == .lookingBeforeHandingOut
            state.receiver.step = looksFirst && receiver.backlog == 1 ? .takes : .waitingLooks
        case .waitingLooks: state.receiver.step = state.waitingCount > 0 ? .locks : next(receiver)
        case .locks:
            guard lock(receiverIndex, in: &state) else { return hasStores }
            drainReceiver(in: &state)
            state.receiver.pump = Pump()
            state.receiver.step = .pumps
        case .pumps:
            var pump = receiver.pump
            let isDone = stepPump(&pump, in: &state, &walk)
            state.receiver.pump = pump
            if isDone {
                state.lockHolder = nil
                state.receiver.pump = Pump()
                state.receiver.step = next(receiver)
            }
        }
        walk.reach(state)
        return true
    }

    private func next(_ receiver: Receiver) -> Receiver.Step { receiver.backlog == 0 ? .takes : .handsOut }

    /// Makes the receiver's stores visible to all threads.
    func drainReceiver(in state: inout State) {
        state.handedOut += state.receiver.buffered
        state.receiver.buffered = 0
    }

    /// - Returns: False if the thread cannot take a step.
    func stepCloser(in before: State, _ walk: inout Exploration<State>) -> Bool {
        var state = before
        switch before.closer.step {
        case .closes:
            state.isClosed = true
            state.closer.step = .mailboxCloses
        case .mailboxCloses:
            state.destroyed += state.word.queued
            state.word = Word(isClosed: true)
            state.closer.step = .endsLine
        case .endsLine:
            guard lock(closerIndex, in: &state) else { return false }
            state.lockHolder = nil
            if fault != .lineOutlivesPort {
                state.waitingCount = 0
                for sender in state.line.removeAll().elements { state.outcomes[sender] = 2 }
            }
            state.closer.step = .done
        case .done: return false
        }
        walk.reach(state)
        return true
    }
}
