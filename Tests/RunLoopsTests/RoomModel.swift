import TestSupport

/// A receiver that hands messages of a full port out, and senders that wait for the room, as a machine whose every state can be
/// visited.
///
/// The receiver's stores wait in its buffer until they are drained, which may happen at any moment. Whoever takes the lock of
/// the line drains its own first; the heavy fence drains the receiver's.
struct RoomModel {
    /// What can be left out or be done in the wrong order.
    enum Fault: CaseIterable {
        /// A sender goes to sleep without the fence.
        case sleepWithoutFence
        /// A sender has the fence, and does not look again.
        case noLookAfterFence
        /// The receiver looks who waits before it hands out.
        case lookingBeforeHandingOut
    }

    let messages: Int
    let senders: Int
    var fault: Fault?

    enum Receiver: Hashable { case handOut, look, serve, done }
    enum Sender: Hashable { case enter, fence, lookAgain, asleep, sent }

    struct State: Hashable {
        /// What the memory says of how many were handed out, which is how many may be sent anew.
        var handedOut = 0
        /// What the receiver has stored and nobody else sees yet, oldest first.
        var buffer: [Int] = []
        var messagesLeft: Int
        /// Those who wait, in turn; guarded by the lock, but for how many they are.
        var line: [Int] = []
        var receiver = Receiver.handOut
        var senders: [Sender]

        var sentCount: Int { senders.count { $0 == .sent } }

        /// Under the lock: those who wait have the room there is.
        mutating func pump() {
            while sentCount < handedOut, !line.isEmpty { senders[line.removeFirst()] = .sent }
        }

        mutating func drain() {
            handedOut = buffer.last ?? handedOut
            buffer = []
        }
    }

    /// Visits every state that can be reached.
    func explore() -> Exploration<State> {
        var start = State(messagesLeft: messages, senders: Array(repeating: .enter, count: senders))
        if fault == .lookingBeforeHandingOut { start.receiver = .look }
        return Exploration(from: start) { state, walk in
            var isStuck = true
            if state.receiver != .done {
                isStuck = false
                walk.reach(receive(state))
            }
            for sender in 0..<senders where state.senders[sender] != .sent && state.senders[sender] != .asleep
            {
                isStuck = false
                walk.reach(send(state, sender))
            }
            if !state.buffer.isEmpty {
                isStuck = false
                var drained = state
                drained.handedOut = drained.buffer.removeFirst()
                walk.reach(drained)
            }
            if isStuck && state.sentCount < min(senders, messages) {
                walk.fail("a sender sleeps beside room")
            }
        }
    }

    /// One step of the receiver.
    private func receive(_ before: State) -> State {
        var state = before
        let looksFirst = fault == .lookingBeforeHandingOut
        switch state.receiver {
        case .handOut:
            state.buffer.append((state.buffer.last ?? state.handedOut) + 1)
            state.messagesLeft -= 1
            state.receiver = looksFirst ? next(state) : .look
        case .look:
            let after: Receiver = looksFirst ? .handOut : next(state)
            state.receiver = state.line.isEmpty ? after : .serve
        case .serve:
            state.drain()
            state.pump()
            state.receiver = looksFirst ? .handOut : next(state)
        case .done: break
        }
        return state
    }

    private func next(_ state: State) -> Receiver {
        if state.messagesLeft == 0 { return .done }
        return fault == .lookingBeforeHandingOut ? .look : .handOut
    }

    /// One step of a sender; what others have done for it may end it.
    private func send(_ before: State, _ sender: Int) -> State {
        var state = before
        switch state.senders[sender] {
        case .enter:
            state.line.append(sender)
            state.senders[sender] = fault == .sleepWithoutFence ? .asleep : .fence
            state.pump()
        case .fence:
            state.drain()
            state.senders[sender] = fault == .noLookAfterFence ? .asleep : .lookAgain
        case .lookAgain:
            state.senders[sender] = .asleep
            state.pump()
        case .asleep, .sent: break
        }
        return state
    }
}
