import TestSupport

// The steps of threads that send to the port, or close it.

extension PortModel {
    struct Thread: Hashable {
        enum Step: Hashable {
            case begins
            /// `PortCore.send`: the load and the exchange of `Mailbox.tryPush`.
            case pushLooks, pushExchanges
            /// `PortCore.ring`: the load of the flag, and `Doorbell.ring`.
            case closedLooks, rings
            /// `Doorbell.nudge`: the load and the exchange.
            case nudgeLooks, nudgeExchanges
            /// `ReadyNode.send`, for each signal that the thread has got.
            case sendsSignals
            /// `PortCore.close`: the exchange of the flag, and `Mailbox.close`.
            case closes, mailboxCloses
            /// `PortCore.destroyWhatIsLeft`: `Claim.takeIfFree`, the destruction, and `Claim.release`.
            case takesClaim, destroys, givesUp
            case done
        }

        var step = Step.begins
        var operation = 0
        /// The nodes that the thread has still to push.
        var nodes = SmallQueue()
        /// The number of nodes that were made.
        var made = 0
        var seen = Word.empty
        var seenBell = Bell.quiet
        /// The signals that the thread has still to send.
        var signals = SmallQueue()
        var isClosing = false
    }

    /// - Returns: False if the thread cannot take a step.
    func stepThread(_ index: Int, in before: State, _ walk: inout Exploration<State>) -> Bool {
        var state = before
        var thread = before.threads[index]
        func reach(_ state: State, _ thread: Thread) {
            var state = state
            state.threads[index] = thread
            walk.reach(state)
        }
        switch thread.step {
        case .begins: begin(index, &thread)
        case .pushLooks:
            thread.seen = state.word
            if state.word == .closed {
                thread.nodes = SmallQueue()
                afterPushing(index, &thread)
            } else if let node = thread.nodes.first {
                state.links[node] = if case .newest(let other) = state.word { other + 1 } else { 0 }
                thread.step = .pushExchanges
            }
        case .pushExchanges:
            // The exchange is weak: it can fail for no reason.
            var again = thread
            again.step = .pushLooks
            again.seen = .empty
            reach(state, again)
            guard state.word == thread.seen, let node = thread.nodes.popFirst() else { return true }
            state.word = .newest(node)
            state.accepted |= 1 << node
            if case .armed(let signal) = thread.seen, fault != .signalOfPushDropped {
                if fault == .oneSignalSlot { thread.signals = SmallQueue() }
                thread.signals.append(signal)
            }
            thread.seen = .empty
            if thread.nodes.isEmpty { afterPushing(index, &thread) } else { thread.step = .pushLooks }
        case .closedLooks:
            if state.isClosed { goOn(index, &thread) } else { thread.step = .rings }
        case .rings:
            ring(&thread, in: &state)
            state.wasRung = true
            thread.step = .sendsSignals
        case .nudgeLooks:
            thread.seenBell = state.bell
            thread.step = .nudgeExchanges
        case .nudgeExchanges:
            guard state.bell == thread.seenBell else {
                // The exchange is weak. This is also the state after a failure for no reason.
                thread.seenBell = state.bell
                break
            }
            if case .armed(let signal) = state.bell { thread.signals.append(signal) }
            state.bell = state.bell == .rung || fault == .nudgeRings ? .rung : .nudged
            thread.seenBell = .quiet
            let pushesLate = fault == .nudgeBeforeNotice && !thread.nodes.isEmpty
            thread.step = pushesLate ? .pushLooks : .sendsSignals
        case .sendsSignals:
            if let signal = thread.signals.popFirst() { sendSignal(signal, in: &state, &walk) }
            if thread.signals.isEmpty {
                let destroys = thread.isClosing && fault != .noDestroyByCloser
                if destroys { thread.step = .takesClaim } else { goOn(index, &thread) }
            }
        case .closes:
            let wasClosed = state.isClosed
            state.isClosed = true
            if fault == .flagAfterMailbox {
                thread.step = .sendsSignals
            } else if wasClosed {
                goOn(index, &thread)
            } else {
                thread.step = .mailboxCloses
            }
        case .mailboxCloses:
            let signal = closeMailbox(in: &state, &walk)
            if let signal, fault != .signalOfCloseDropped { thread.signals.append(signal) }
            thread.step = signal == nil && merges ? .nudgeLooks : .sendsSignals
            if fault == .closeRings && signal == nil {
                ring(&thread, in: &state)
                thread.step = .sendsSignals
            }
            if fault == .closeDoesNotNudge { thread.step = .sendsSignals }
            if fault == .flagAfterMailbox { thread.step = .closes }
        case .takesClaim:
            let isTaken = state.claim == .none || state.claim == .port && fault == .destroyTakesAgain
            if isTaken {
                state.claim = .port
                thread.step = .destroys
            } else {
                goOn(index, &thread)
            }
        case .destroys:
            checkClaim(.port, in: state, &walk)
            destroy(state.backlog.removeAll(), in: &state, &walk)
            thread.step = .givesUp
        case .givesUp:
            state.claim = .none
            goOn(index, &thread)
        case .done: return false
        }
        reach(state, thread)
        return true
    }

    private func begin(_ index: Int, _ thread: inout Thread) {
        guard thread.operation < operations[index].count else {
            thread.step = .done
            return
        }
        switch operations[index][thread.operation] {
        case .send: push(1, index, &thread)
        case .pump: push(2, index, &thread)
        case .ring: thread.step = .closedLooks
        case .notify:
            push(1, index, &thread)
            if fault == .nudgeBeforeNotice { thread.step = .nudgeLooks }
        case .close:
            thread.isClosing = true
            thread.step = fault == .flagAfterMailbox ? .mailboxCloses : .closes
        }
    }

    private func push(_ count: Int, _ index: Int, _ thread: inout Thread) {
        for _ in 0..<count {
            thread.nodes.append(index * 4 + thread.made)
            thread.made += 1
        }
        thread.step = .pushLooks
    }

    /// `Doorbell.ring`.
    private func ring(_ thread: inout Thread, in state: inout State) {
        if case .armed(let signal) = state.bell { thread.signals.append(signal) }
        state.bell = .rung
    }

    private func afterPushing(_ index: Int, _ thread: inout Thread) {
        thread.seen = .empty
        let nudges = operations[index][thread.operation] == .notify && fault != .nudgeBeforeNotice
        thread.step = nudges ? .nudgeLooks : .sendsSignals
    }

    private func goOn(_ index: Int, _ thread: inout Thread) {
        thread.operation += 1
        thread.isClosing = false
        thread.step = thread.operation < operations[index].count ? .begins : .done
    }

    /// `ReadyNode.send` to a loop's mailbox, which refuses the node if the loop has ended.
    private func sendSignal(_ signal: Int, in state: inout State, _ walk: inout Exploration<State>) {
        let loop = state.signalLoop[signal]
        if state.hasEnded[loop] == 1 { return takeBack(signal, in: &state, &walk) }
        if state.mail[loop].contains(signal) { return walk.fail("a signal's node is in two places") }
        state.mail[loop].append(signal)
    }

    /// `Mailbox.close`, and the destruction of the queued messages.
    ///
    /// - Returns: The signal with which the mailbox was armed.
    func closeMailbox(in state: inout State, _ walk: inout Exploration<State>) -> Int? {
        defer { state.word = .closed }
        switch state.word {
        case .empty, .closed: return nil
        case .armed(let signal): return signal
        case .newest(let node):
            destroy(unlink(node, in: &state, &walk), in: &state, &walk)
            return nil
        }
    }
}
