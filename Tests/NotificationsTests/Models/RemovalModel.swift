import TestSupport

/// A finite state machine of threads that call one observation, and threads that remove it.
///
/// The plain stores of a thread wait in its buffer until they are drained, which can happen at any moment; the thread itself sees
/// them at once. Exchanges drain the thread's own buffer first. The heavy fence drains all buffers, one thread after another.
struct RemovalModel {
    /// A step that is missing, or made in the wrong order.
    enum Fault: CaseIterable {
        /// The removal does not make the other threads execute a fence.
        case removalWithoutFence
        /// A call that ends in a removed observation does not make the other threads execute a fence.
        case settlingWithoutFence
        /// A call checks for a removal only before it is published.
        case noLookAfterShowing
        /// The end of a call does not check for a removal.
        case noLookAfterClearing
        /// The end of a call checks for a removal before it clears its place.
        case clearingAfterLooking
        /// A thread that is not the first to settle releases the handler, too.
        case settlingTwice
    }

    let callers: Int
    let callsEach: Int
    let removers: Int
    var fault: Fault?

    enum Step: Hashable {
        // The steps of a caller.
        case lookBefore, publish, lookAgain, begin, end, clear, lookAfter
        // The step of a remover.
        case remove
        // The steps that settle: for each caller one fence, and one load of the call that it publishes.
        case lookSettled
        case fence(Int)
        case look(Int)
        case settle
        case done
    }

    struct State: Hashable {
        var isRemoved = false
        var isSettled = false
        /// The call that each caller has published, as seen in memory.
        var shown: [Bool]
        /// The stores of each caller that other threads do not see yet, oldest first.
        var buffers: [[Bool]]
        var steps: [Step]
        var callsLeft: [Int]
        var isCalling: [Bool]
        var finishes = 0
    }

    /// Visits every state that can be reached.
    func explore() -> Exploration<State> {
        let start = State(
            shown: Array(repeating: false, count: callers), buffers: Array(repeating: [], count: callers),
            steps: Array(repeating: .lookBefore, count: callers) + Array(repeating: .remove, count: removers),
            callsLeft: Array(repeating: callsEach, count: callers),
            isCalling: Array(repeating: false, count: callers))
        return Exploration(from: start) { state, walk in
            var isStuck = true
            for thread in 0..<callers + removers where state.steps[thread] != .done {
                isStuck = false
                walk.reach(take(state, thread, &walk))
            }
            for caller in 0..<callers where !state.buffers[caller].isEmpty {
                isStuck = false
                var drained = state
                drained.shown[caller] = drained.buffers[caller].removeFirst()
                walk.reach(drained)
            }
            if isStuck && state.finishes != 1 { walk.fail("finished \(state.finishes) times") }
        }
    }

    private func take(_ before: State, _ thread: Int, _ walk: inout Exploration<State>) -> State {
        var state = before
        switch state.steps[thread] {
        case .lookBefore: state.steps[thread] = state.isRemoved ? nextCall(&state, thread) : .publish
        case .publish:
            state.buffers[thread].append(true)
            state.steps[thread] = fault == .noLookAfterShowing ? .begin : .lookAgain
        case .lookAgain: state.steps[thread] = state.isRemoved ? .clear : .begin
        case .begin:
            if state.isSettled { walk.fail("called after the handler was released") }
            state.isCalling[thread] = true
            state.steps[thread] = .end
        case .end:
            state.isCalling[thread] = false
            state.steps[thread] = fault == .clearingAfterLooking ? .lookAfter : .clear
        case .clear:
            state.buffers[thread].append(false)
            switch fault {
            case .noLookAfterClearing, .clearingAfterLooking: state.steps[thread] = nextCall(&state, thread)
            default: state.steps[thread] = .lookAfter
            }
        case .lookAfter:
            let other: Step = fault == .clearingAfterLooking ? .clear : nextCall(&state, thread)
            state.steps[thread] = state.isRemoved ? .lookSettled : other
        case .remove:
            state.steps[thread] = state.isRemoved ? .done : .lookSettled
            state.isRemoved = true
        case .lookSettled: state.steps[thread] = state.isSettled ? .done : firstFence(thread)
        case .fence(let caller):
            state.shown[caller] = state.buffers[caller].last ?? state.shown[caller]
            state.buffers[caller] = []
            state.steps[thread] = caller + 1 < callers ? .fence(caller + 1) : .look(0)
        case .look(let caller):
            let own = caller == thread ? state.buffers[caller].last : nil
            let next: Step = caller + 1 < callers ? .look(caller + 1) : .settle
            state.steps[thread] = own ?? state.shown[caller] ? .done : next
        case .settle:
            if !state.isSettled || fault == .settlingTwice { state.finishes += 1 }
            if state.isCalling.contains(true) {
                walk.fail("the handler was released during a call")
            }
            state.isSettled = true
            state.steps[thread] = .done
        case .done: break
        }
        return state
    }

    private func firstFence(_ thread: Int) -> Step {
        switch fault {
        case .removalWithoutFence where thread >= callers, .settlingWithoutFence where thread < callers:
            .look(0)
        default: .fence(0)
        }
    }

    private func nextCall(_ state: inout State, _ caller: Int) -> Step {
        state.callsLeft[caller] -= 1
        return state.callsLeft[caller] > 0 ? .lookBefore : .done
    }
}
