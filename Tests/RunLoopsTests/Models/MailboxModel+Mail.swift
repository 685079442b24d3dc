import TestSupport

// The loop's handling of its mail.

extension MailboxModel {
    /// Unlinks the nodes of a word, and puts them into the order in which they were sent.
    func take(_ word: Word, _ state: inout State, _ walk: inout Exploration<State>) {
        var rest = word.node
        var count = 0
        while let node = rest {
            count += 1
            if count > 12 { return walk.fail("a node is linked to itself") }
            if fault == .newestFirst {
                state.loop.mail |= UInt64(node + 1) << UInt64(4 * (count - 1))
            } else {
                state.loop.mail = state.loop.mail << 4 | UInt64(node + 1)
            }
            rest = state[link: node]
            state[link: node] = nil
        }
        state.loop.seen = .empty
    }

    private func nextNode(_ state: inout State) -> Node? {
        let bits = state.loop.mail & 15
        state.loop.mail >>= 4
        return bits == 0 ? nil : Node(bits - 1)
    }

    /// `LoopCore.sortMail` up to the requests, which are taken in another step.
    func sort(_ state: inout State, _ walk: inout Exploration<State>) {
        while let node = nextNode(&state) {
            switch node {
            case Self.requestNode:
                state.isRequestNodeOut = false
                if fault == .requestsTakenBeforeNode { continue }
                state.loop.step = .takesRequests
                return
            case Self.signalNode:
                state.isSignalNodeOut = false
                releaseSignal(&state, &walk)
                state.loop.isPortReady = true
            default: deliver(node, &state, &walk)
            }
        }
        goOn(&state)
    }

    /// `LoopCore.discard`, where the destruction of a message counts as its delivery.
    func discard(_ state: inout State, _ walk: inout Exploration<State>) {
        while let node = nextNode(&state) {
            switch node {
            case Self.requestNode: state.isRequestNodeOut = false
            case Self.signalNode:
                state.isSignalNodeOut = false
                releaseSignal(&state, &walk)
            default: deliver(node, &state, &walk)
            }
        }
    }

    private func deliver(_ node: Node, _ state: inout State, _ walk: inout Exploration<State>) {
        let (sender, number) = message(of: node)
        let expected = state.senders[sender].delivered
        if number < expected { walk.fail("a message came twice") }
        if number > expected { walk.fail("a message was overtaken") }
        state.senders[sender].delivered += 1
    }
}
