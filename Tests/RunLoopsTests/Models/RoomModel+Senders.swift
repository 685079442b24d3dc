import TestSupport

// The steps of a sender.

extension RoomModel {
    struct Sender: Hashable {
        enum Step: Hashable {
            /// `PortQueue.roomAtOnce`: the loads of `waitingCount` and of the word, and of the word again if the room was updated.
            case atOnceCounts, atOnceLooks, atOnceLooksAgain
            /// The load of `waitingCount` in `PortCore.send`.
            case waitingLooks
            /// `Mailbox.pushIfRoom`: the load and the exchange.
            case pushLooks, pushExchanges
            /// `PortQueue.bringRoomUpToDate`: the guess, the lock, and the steps of the pump.
            case roomLooks, roomLocks, bringsRoom
            /// `PortCore.waitForRoom`: the lock and the load of the flag, the store of `waitingCount`, and the pump.
            case joinLocks, waitingStores, pumps
            /// `PortCore.waitForRoom` of a sender that does not wait: it leaves the line, and stores `waitingCount`.
            case decides, decidesStores
            /// `PortQueue.lookForRoomAgain`: the load of `waitingCount`, the fence, the lock, and the pump.
            case lineLooks, fences, servesLocks, serves
            /// `ThreadGate.wait`.
            case asleep
            /// `PortQueue.leaveLine`: the lock, the store of `waitingCount`, and the pump.
            case leaveLocks, leaveStores, leavePumps
            case done
        }

        var step = Step.waitingLooks
        var operation = 0
        /// The number of messages of a batch that are left; below, the number that is being sent.
        var left = 0
        var count = 0
        var seen = Word()
        var pump = Pump()
        /// True if the port was full at some time during this attempt, or another sender waited in front.
        var hasSeenFull = false
        var hasBegun = false
    }

    /// - Returns: False if the thread cannot take a step.
    func stepSender(_ index: Int, in before: State, _ walk: inout Exploration<State>) -> Bool {
        var state = before
        let sender = before.senders[index]
        if sender.step == .done { return false }
        if !sender.hasBegun { begin(index, in: &state) }
        let send = senders[index][sender.operation]
        func go(to step: Sender.Step) { state.senders[index].step = step }
        if isFull(for: max(1, state.senders[index].count), in: state) {
            state.senders[index].hasSeenFull = true
        }
        switch state.senders[index].step {
        case .atOnceCounts:
            if state.waitingCount > 0 { sendPart(1, index, in: &state) } else { go(to: .atOnceLooks) }
        case .atOnceLooks:
            if state.word.room == 0 {
                go(to: .roomLooks)
            } else {
                sendPart(state.word.room, index, in: &state)
            }
        case .atOnceLooksAgain: sendPart(max(1, state.word.room), index, in: &state)
        case .waitingLooks: go(to: state.waitingCount == 0 ? .pushLooks : .joinLocks)
        case .pushLooks:
            state.senders[index].seen = state.word
            go(to: .pushExchanges)
            if !hasRoom(state.word, for: sender.count) {
                state.senders[index].seen = Word()
                go(to: .roomLooks)
                if state.word.isClosed { finish(index, isSent: false, in: &state, &walk) }
            }
        case .pushExchanges:
            // The exchange is weak: it can fail for no reason.
            state.senders[index].seen = Word()
            state.senders[index].step = .pushLooks
            walk.reach(state)
            if !isUnchanged(state.word, since: sender.seen) { return true }
            push(sender.count, send, in: &state, &walk)
            finish(index, isSent: true, in: &state, &walk)
        case .roomLooks:
            if state.handedOut != state.roomReturned {
                go(to: .roomLocks)
            } else if sender.count == 0 {
                // In `roomAtOnce`, when there is no room for a single message.
                sendPart(1, index, in: &state)
            } else {
                go(to: .joinLocks)
            }
        case .roomLocks:
            if fault != .roomMovedOutsideLock && !lock(index, in: &state) { return false }
            state.senders[index].pump = Pump(step: .roomLooks, serves: false)
            go(to: .bringsRoom)
        case .joinLocks:
            guard lock(index, in: &state) else { return false }
            if state.isClosed && fault != .joinWithoutLookingAtEnd {
                state.lockHolder = nil
                finish(index, isSent: false, in: &state, &walk)
            } else {
                if !state.line.isEmpty { state.senders[index].hasSeenFull = true }
                state.line.append(index)
                go(to: .waitingStores)
            }
        case .waitingStores:
            if fault != .joinWithoutStoring { state.waitingCount = state.line.count }
            state.senders[index].pump = Pump()
            go(to: .pumps)
        case .bringsRoom, .pumps, .serves, .leavePumps:
            var pump = sender.pump
            let isDone = stepPump(&pump, in: &state, &walk)
            state.senders[index].pump = pump
            if !isDone { break }
            afterPump(index, send, in: &state, &walk)
        case .decides:
            if state.outcomes[index] == 0 { state.line.remove(index) }
            go(to: .decidesStores)
        case .decidesStores:
            state.waitingCount = state.line.count
            state.lockHolder = nil
            decide(index, in: &state, &walk)
        case .lineLooks:
            go(to: state.waitingCount == 0 || fault == .sleepWithoutFence ? .asleep : .fences)
        case .fences:
            drainReceiver(in: &state)
            go(to: fault == .noLookAfterFence ? .asleep : .servesLocks)
        case .servesLocks:
            guard lock(index, in: &state) else { return false }
            state.senders[index].pump = Pump()
            go(to: .serves)
        case .asleep where send.isHandler:
            if state.outcomes[index] == 0 { return false }
            finish(index, isSent: true, in: &state, &walk)
        case .asleep:
            if state.outcomes[index] == 0 && send.patience != .untilDeadline { return false }
            go(to: .leaveLocks)
        case .leaveLocks:
            guard lock(index, in: &state) else { return false }
            if state.outcomes[index] == 0 { state.line.remove(index) }
            go(to: .leaveStores)
        case .leaveStores:
            state.waitingCount = state.line.count
            state.senders[index].pump = Pump()
            go(to: .leavePumps)
            if fault == .leaveWithoutServing {
                state.lockHolder = nil
                decide(index, in: &state, &walk)
            }
        case .done: return false
        }
        walk.reach(state)
        return true
    }

    /// Begins a send; a batch begins with the load of the room.
    private func begin(_ index: Int, in state: inout State) {
        let send = senders[index][state.senders[index].operation]
        state.senders[index].hasBegun = true
        state.senders[index].left = send.count
        state.senders[index].count = send.isChain ? send.count : 0
        // `PortCore.addRoomHandler` joins the line immediately.
        state.senders[index].step = send.isHandler ? .joinLocks : send.isChain ? .waitingLooks : .atOnceCounts
    }

    private func sendPart(_ most: Int, _ index: Int, in state: inout State) {
        let most = fault == .allAtOnce ? .max : most
        state.senders[index].count = min(most, state.senders[index].left)
        state.senders[index].hasSeenFull = false
        state.senders[index].step = .waitingLooks
    }

    /// The next step after the pump: the sender releases the lock, or continues under it.
    private func afterPump(
        _ index: Int, _ send: Send, in state: inout State, _ walk: inout Exploration<State>
    ) {
        let step = state.senders[index].step
        let staysLocked = step == .pumps && send.patience == .none
        if !staysLocked && state.lockHolder == index { state.lockHolder = nil }
        state.senders[index].pump = Pump()
        switch step {
        case .bringsRoom:
            let isBatch = state.senders[index].count == 0
            state.senders[index].step = isBatch ? .atOnceLooksAgain : .pushLooks
        case .pumps: state.senders[index].step = send.patience == .none ? .decides : .lineLooks
        case .serves: state.senders[index].step = .asleep
        default: decide(index, in: &state, &walk)
        }
    }

    /// Ends the send of a sender that has left the line.
    private func decide(_ index: Int, in state: inout State, _ walk: inout Exploration<State>) {
        let isSent = state.outcomes[index] == 1
        let isClosed = state.outcomes[index] == 2 || state.isClosed
        if !isSent && !isClosed && !state.senders[index].hasSeenFull {
            walk.fail("a sender is refused beside room")
        }
        finish(index, isSent: isSent, in: &state, &walk)
    }

    private func finish(_ index: Int, isSent: Bool, in state: inout State, _ walk: inout Exploration<State>) {
        state.outcomes[index] = 0
        let sender = state.senders[index]
        let operation = sender.operation
        state.senders[index] = Sender()
        state.senders[index].operation = operation
        if isSent && sender.left > sender.count {
            state.senders[index].hasBegun = true
            state.senders[index].left = sender.left - sender.count
            state.senders[index].step = .atOnceCounts
            return
        }
        state.senders[index].operation += 1
        if operation + 1 == senders[index].count { state.senders[index].step = .done }
    }

    // MARK: - The word

    func hasRoom(_ word: Word, for count: Int) -> Bool {
        if word.isClosed { return false }
        return fault == .pushIfAnyRoom ? word.room > 0 : word.room >= count
    }

    func isUnchanged(_ word: Word, since seen: Word) -> Bool {
        if fault == .pushWithoutComparing { return !word.isClosed }
        return word == seen
    }

    /// Queues messages, and uses their room.
    func push(_ count: Int, _ send: Send, in state: inout State, _ walk: inout Exploration<State>) {
        let isCountedWrong = fault == .declaredCount && send.declared != nil
        state.word.room -= isCountedWrong ? send.declared ?? 0 : count
        state.word.queued += count
        state.accepted += count
        checkLimit(state, &walk)
    }

    // MARK: - The lock

    /// - Returns: False if another thread has the lock.
    func lock(_ thread: Int, in state: inout State) -> Bool {
        if state.lockHolder != nil { return false }
        state.lockHolder = thread
        return true
    }
}
