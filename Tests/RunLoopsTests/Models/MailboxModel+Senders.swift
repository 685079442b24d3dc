import TestSupport

// The steps of the senders.

extension MailboxModel {
    struct Sender: Hashable {
        enum Step: Hashable {
            case begins
            /// `LoopHandle.request`; `marksLate` occurs with a fault only.
            case marks, marksLate
            /// `Mailbox.push`: the load and the exchange.
            case pushLooks, pushExchanges
            /// `Wakeup.signal`.
            case writes
            /// `Doorbell.ring`, and the load and the exchange of `Doorbell.nudge`.
            case ringExchanges, nudgeLooks, nudgeExchanges
            /// `ReadyNode.send` before and after it sends, and in between if the loop has ended.
            case retainsInbox, releasesSignal, releasesInbox
            /// The thread releases its reference to the loop.
            case dropsLoop
            case done
        }

        var step = Step.begins
        var operation: UInt8 = 0
        var node: Node = 0
        var seen = Word.empty
        var seenBell = Bell.quiet
        /// The number of messages that were made; below, those that were pushed, and those that were delivered.
        var made: UInt8 = 0
        var accepted: UInt8 = 0
        var delivered: UInt8 = 0
    }

    /// Returns the number of the node of a message.
    private func messageNode(of sender: Int, number: UInt8) -> Node { 2 + Node(sender) * 4 + number }

    /// Returns the sender and the number of the message in a node.
    func message(of node: Node) -> (sender: Int, number: UInt8) { (Int(node - 2) / 4, (node - 2) % 4) }

    func stepSender(_ index: Int, in before: State, _ walk: inout Exploration<State>) {
        var state = before
        var sender = before.senders[index]
        func reach(_ state: State, _ sender: Sender) {
            var state = state
            state.senders[index] = sender
            walk.reach(state)
        }
        switch sender.step {
        case .begins: begin(index, &sender, &state)
        case .marks: mark(scripts[index][Int(sender.operation)], &sender, &state, &walk)
        case .marksLate:
            note(scripts[index][Int(sender.operation)], in: &state)
            goOn(&sender)
        case .pushLooks:
            sender.seen = state.word
            if state.word == .closed && fault != .pushOntoClosed {
                wasPushed(&sender, isAccepted: false)
            } else {
                state[link: sender.node] = state.word.node
                sender.step = .pushExchanges
            }
        case .pushExchanges:
            // The exchange is weak: it can fail for no reason.
            var again = sender
            again.step = .pushLooks
            reach(state, again)
            if state.word != sender.seen { return }
            state.word = .newest(sender.node)
            if sender.seen == .armed && fault != .dropTheWrite {
                sender.step = .writes
            } else {
                wasPushed(&sender, isAccepted: true)
            }
        case .writes:
            if !state.isOpen { walk.fail("a write to a closed descriptor") }
            state.isEdgeThere = true
            wasPushed(&sender, isAccepted: true)
        case .ringExchanges:
            let bell = state.bell
            state.bell = .rung
            wasRung(bell, &sender)
        case .nudgeLooks:
            sender.seenBell = state.bell
            sender.step = .nudgeExchanges
        case .nudgeExchanges:
            guard state.bell == sender.seenBell else {
                sender.seenBell = state.bell
                break
            }
            state.bell = sender.seenBell == .rung ? .rung : .nudged
            wasRung(sender.seenBell, &sender)
        case .retainsInbox:
            if fault != .signalWithoutInbox { state.inboxReferences += 1 }
            sender.node = Self.signalNode
            sender.step = .pushLooks
        case .releasesSignal:
            // A closed mailbox never releases the node.
            state.isSignalNodeOut = false
            releaseSignal(&state, &walk)
            sender.step = .releasesInbox
        case .releasesInbox:
            if fault != .signalWithoutInbox { releaseInbox(&state) }
            goOn(&sender)
        case .dropsLoop:
            releaseInbox(&state)
            sender.step = .done
        case .done: return
        }
        if sender.step == .begins && Int(sender.operation) == scripts[index].count {
            sender.step = holdsLoop(scripts[index]) ? .dropsLoop : .done
        }
        reach(state, sender)
    }

    private func begin(_ index: Int, _ sender: inout Sender, _ state: inout State) {
        switch scripts[index][Int(sender.operation)] {
        case .send:
            sender.node = messageNode(of: index, number: sender.made)
            sender.made += 1
            sender.step = .pushLooks
        case .stop, .wakeUp, .end:
            sender.step = .marks
        case .ring:
            state.ringsUnseen = true
            sender.step = .ringExchanges
        case .nudge:
            state.noticesUnseen = true
            sender.step = .nudgeLooks
        }
    }

    /// `LoopHandle.request`: the sender that finds no earlier mark sends the node.
    private func mark(
        _ operation: Operation, _ sender: inout Sender, _ state: inout State, _ walk: inout Exploration<State>
    ) {
        let isFirst = state.requests.isEmpty || fault == .requestAlwaysSent
        if fault != .requestMarkedAfterNode { note(operation, in: &state) }
        if !isFirst {
            if fault == .requestMarkedAfterNode { note(operation, in: &state) }
            return goOn(&sender)
        }
        if state.isRequestNodeOut { walk.fail("a node is in two places") }
        state.isRequestNodeOut = true
        sender.node = Self.requestNode
        sender.step = .pushLooks
    }

    private func note(_ operation: Operation, in state: inout State) {
        let request: Requests =
            switch operation {
            case .stop: .stop
            case .wakeUp: .wakeUp
            case .end: .end
            case .send, .ring, .nudge: []
            }
        state.requests.formUnion(request)
        state.unanswered.formUnion(request)
    }

    /// The next step of a sender that has changed the bell, which depends on the bell's previous state.
    private func wasRung(_ before: Bell, _ sender: inout Sender) {
        if before == .armed { sender.step = .retainsInbox } else { goOn(&sender) }
    }

    /// The next step of a sender after a push.
    private func wasPushed(_ sender: inout Sender, isAccepted: Bool) {
        switch sender.node {
        case Self.requestNode:
            if fault == .requestMarkedAfterNode { sender.step = .marksLate } else { goOn(&sender) }
        case Self.signalNode: sender.step = isAccepted ? .releasesInbox : .releasesSignal
        default:
            if isAccepted { sender.accepted += 1 }
            goOn(&sender)
        }
    }

    private func goOn(_ sender: inout Sender) {
        sender.operation += 1
        sender.step = .begins
        // Cleared, so that states do not differ in values that are no longer needed.
        sender.seen = .empty
        sender.seenBell = .quiet
        sender.node = 0
    }
}
