import TestSupport

// The steps of the loop.

extension MailboxModel {
    struct Loop: Hashable {
        enum Step: Hashable {
            /// The load of the port's queue in `PortInput.arm`, and `Doorbell.armUnlessRung`.
            case joinLooks, joinArms
            /// The load in `LoopCore.takeMail`, and the load and the exchange in `Mailbox.take`.
            case looks, takeLooks, takeExchanges
            /// `LoopHandle.takeRequests`, the part of `LoopCore.sortMail` that takes requests.
            case takesRequests
            /// The loads in `PortInput.serveRing`: `Doorbell.isNudgedOrRung`, which a fault makes two loads, and the port's queue.
            case bellLooks, bellLooksAgain, queueLooks
            /// `Doorbell.arm`.
            case bellArms
            /// The call of the handler, and the notices in the port's queue.
            case handles, takesNotices
            /// `LoopCore.poll`, and `LoopCore.pollNow`, which only a fault makes.
            case polls, pollsLate
            /// `LoopCore.spin`.
            case spins
            /// `Mailbox.arm`: the load and the exchange.
            case armLooks, armExchanges
            /// `Poller.wait`.
            case sleeps
            /// `Mailbox.close` in `LoopCore.end`, and the load and the exchange of `Doorbell.disarm` in `PortInput.didLeave`.
            case closes, disarmLooks, disarmExchanges
            /// The port's place in the loop releases its signal, and the thread releases its loop.
            case releasesSignal, dropsLoop
            case done
        }

        /// The step after the loop has taken its mail.
        enum Place: Hashable { case serving, exitCheck, isQuiet, ending }

        var step = Step.looks
        var place = Place.serving
        var seen = Word.empty
        /// The mail that was taken and is not yet sorted, oldest first, with four bits for each node, and 0 at the end.
        var mail: UInt64 = 0
        var requests = Requests()
        var isPortReady = false
    }

    /// - Returns: True if the loop can take a step.
    func stepLoop(in before: State, _ walk: inout Exploration<State>) -> Bool {
        var state = before
        switch before.loop.step {
        case .joinLooks:
            if state.noticesUnseen { becameReady(&state) } else { state.loop.step = .joinArms }
        case .joinArms:
            if state.bell == .quiet || fault == .bellJoinedByStore {
                armBell(&state, &walk)
                state.loop.step = .looks
            } else {
                becameReady(&state)
            }
        case .looks:
            // An ending loop checks for jobs, finds none, and closes its mailbox.
            if fault == .requestsTakenBeforeNode { takeRequests(&state) }
            if state.word.node != nil || state.word == .armed {
                state.loop.step = .takeLooks
            } else {
                goOn(&state)
            }
        case .takeLooks:
            state.loop.seen = state.word
            if fault == .takeAfterCheck || state.word.node != nil || state.word == .armed {
                state.loop.step = .takeExchanges
            } else {
                goOn(&state)
            }
        case .takeExchanges:
            if fault == .takeAfterCheck || state.word == state.loop.seen {
                // The exchange is weak: it can fail for no reason, and is repeated.
                state.word = .empty
                take(state.loop.seen, &state, &walk)
                sort(&state, &walk)
            } else {
                state.loop.seen = state.word
            }
        case .takesRequests:
            takeRequests(&state)
            sort(&state, &walk)
        case .bellLooks:
            let isNudged = state.bell == .nudged && fault != .bellLookedAtTwice
            let otherwise: Loop.Step = fault == .bellLookedAtTwice ? .bellLooksAgain : .queueLooks
            state.loop.step = state.bell == .rung || isNudged ? .bellArms : otherwise
        case .bellLooksAgain: state.loop.step = state.bell == .nudged ? .bellArms : .queueLooks
        case .queueLooks:
            if state.noticesUnseen {
                state.loop.step = .bellArms
            } else {
                state.loop.isPortReady = false
                state.loop.step = .looks
                state.loop.place = .exitCheck
            }
        case .bellArms:
            let bell = state.bell
            armBell(&state, &walk)
            state.loop.step = bell == .rung && fault != .bellArmedAfterHandler ? .handles : .takesNotices
        case .handles:
            state.ringsUnseen = false
            state.loop.step = fault == .bellArmedAfterHandler ? .bellArms : .takesNotices
        case .takesNotices:
            state.noticesUnseen = false
            state.loop.isPortReady = false
            state.loop.step = .looks
            state.loop.place = .exitCheck
        case .polls:
            state.isEdgeThere = false
            state.loop.step = .looks
        case .pollsLate:
            state.isEdgeThere = false
            state.loop.step = .sleeps
        case .spins:
            if state.word.node != nil { lookAgain(&state) } else { state.loop.step = .armLooks }
        case .armLooks:
            state.loop.seen = state.word
            state.loop.step = state.word == .empty ? .armExchanges : .polls
        case .armExchanges:
            if state.word == .empty || fault == .armByStore {
                state.word = .armed
                state.loop.step = fault == .pollAfterArming ? .pollsLate : .sleeps
            } else {
                state.loop.step = .polls
            }
            state.loop.seen = .empty
        case .sleeps: return sleep(in: before, &walk)
        case .closes:
            let word = state.word
            state.word = .closed
            take(word, &state, &walk)
            discard(&state, &walk)
            state.loop.step = state.signalReferences > 0 ? .disarmLooks : .dropsLoop
        case .disarmLooks:
            state.loop.step =
                state.bell == .armed || fault == .leavingWithoutAsking ? .disarmExchanges : .releasesSignal
        case .disarmExchanges:
            if state.bell == .armed || fault == .leavingWithoutAsking {
                state.bell = .quiet
                state.isSignalNodeOut = false
                releaseSignal(&state, &walk)
            }
            state.loop.step = .releasesSignal
        case .releasesSignal:
            releaseSignal(&state, &walk)
            state.loop.step = .dropsLoop
        case .dropsLoop:
            releaseInbox(&state)
            if fault == .closeBeforeWrite { state.isOpen = false }
            state.loop.step = .done
        case .done: return false
        }
        walk.reach(state)
        return true
    }

    /// The end of `epoll_wait`.
    private func sleep(in state: State, _ walk: inout Exploration<State>) -> Bool {
        var awake = state
        if fault == .sleepAgain { awake.isEdgeThere = false } else { lookAgain(&awake) }
        // The sleep ends for a reason that the model does not have, such as a timer.
        walk.reach(awake)
        guard state.isEdgeThere else { return false }
        awake.isEdgeThere = false
        walk.reach(awake)
        return true
    }

    private func lookAgain(_ state: inout State) {
        state.loop.step = .looks
        state.loop.place = .serving
    }

    /// The next step after the mail was taken and sorted.
    func goOn(_ state: inout State) {
        state.loop.seen = .empty
        switch state.loop.place {
        case .serving:
            state.loop.step = state.loop.isPortReady ? .bellLooks : .looks
            if fault == .bellArmedAfterHandler && state.loop.isPortReady { state.loop.step = .handles }
            state.loop.place = .exitCheck
        case .exitCheck:
            let isStopped = state.loop.requests.contains(.stop)
            let ends = state.loop.requests.contains(.end) || isStopped && endsAtStop
            state.unanswered.subtract(state.loop.requests)
            state.loop.requests = []
            state.loop.step = .looks
            state.loop.place = ends ? .ending : .isQuiet
        case .isQuiet:
            let isQuiet = state.loop.requests.isEmpty && !state.loop.isPortReady
            state.loop.step = isQuiet ? .spins : .polls
            state.loop.place = .serving
        case .ending: state.loop.step = .closes
        }
    }

    private func takeRequests(_ state: inout State) {
        state.loop.requests.formUnion(state.requests)
        state.requests = []
    }

    private func becameReady(_ state: inout State) {
        state.loop.isPortReady = true
        state.loop.step = .looks
    }

    /// Passes a reference to the signal, with its node, to the thread that rings next.
    private func armBell(_ state: inout State, _ walk: inout Exploration<State>) {
        if state.isSignalNodeOut || state.bell == .armed { walk.fail("a node is in two places") }
        state.isSignalNodeOut = true
        state.signalReferences += 1
        state.bell = .armed
    }
}
