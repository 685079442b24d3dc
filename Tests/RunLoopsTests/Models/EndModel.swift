import TestSupport

/// A finite state machine of the end of one input, with the threads of two loops and threads that end or remove the input.
///
/// Each step is one operation on shared state, and has the name of the function that makes it. The steps are in `EndModel+Steps`.
/// A push onto the stack of hand-overs is one step, because a push that another one overtakes is repeated.
struct EndModel {
    /// The operations of a thread.
    enum Operation: Hashable, Sendable {
        /// `InputEnd.join`, and then joining the loop of the thread; after the other loop's thread has done all of its operations.
        case join
        /// `LoopMembers.admits`, and a call of the handler.
        case call
        /// `Removable.leave`, on the loop's thread.
        case leave
        /// `LoopCore.end`.
        case finish
        /// `EndedAnywhere.endAnywhere`, on any thread.
        case end
        /// `RunLoop.take`, for the loop with this number.
        case remove(Int)
    }

    /// A step that is missing, or made at the wrong time.
    enum Fault: CaseIterable {
        // In `LoopMembers.admits`.
        case callWithoutLooking, callAfterRemoval, removalClearedAfterTaking
        // In `RunLoop.take`.
        case removalMarkedBeforeHandOver
        // In `InputEnd.begin`.
        case endAlwaysHere, endMarkedWithoutComparing, handOverWithoutRequest, refusedHandOverForgotten
        // In `InputEnd.beginGivingBack`.
        case givenBackTwice
        // In `InputEnd.join`.
        case joinAfterEnd
        // In `LoopCore.takeHandOvers`.
        case requestClearedAfterTaking
        // In `LoopCore.end` and `LoopMembers.closeHandOvers`.
        case closeBeforeRemoving, closeDropsHandOvers
    }

    /// The number of the loop that each thread has, counted from 1; 0 for none.
    let loops: [Int]
    let scripts: [[Operation]]
    var fault: Fault?

    /// `InputEnd.word`.
    struct Word: Hashable {
        var hasEnded = false
        var isGivenBack = false
        var isRemoved = false
        /// The loop that the input belongs to; 0 for none.
        var loop = 0
    }

    struct LoopState: Hashable {
        /// The hand-overs: 0 is the end of the input, other numbers are removals.
        var stack = SmallQueue()
        var isClosed = false
        var isRequested = false
        /// True while the input is in the loop.
        var isMember = false
    }

    struct State: Hashable {
        var word = Word()
        /// The loops; the first element stands for no loop.
        var loops = [LoopState(), LoopState(), LoopState()]
        var threads: [Thread]

        // For the checks only.
        var isGivenBack = false
        var endHasReturned = false
        /// The removals that have returned, and those that have taken effect, as bits.
        var returnedRemovals = 0
        var effectiveRemovals = 0
    }

    struct Thread: Hashable {
        var operation = 0
        var step = Step.begins
        /// The word that the thread has read.
        var seen = Word()
        /// The hand-overs that the loop of the thread has taken.
        var taken = SmallQueue()
        /// The step that follows when all of `taken` has taken effect.
        var next = Step.begins
    }

    enum Step: Hashable {
        case begins
        case joinCompares, joinAdds
        case looks, clears, takes, takesEffect, calls
        case endMarks, endPushes, endRequests, endIsRefused
        case removePushes, removeRequests, removeMarks
        case finishRemoves, finishCloses, takesRequest
    }

    /// Visits every state that can be reached.
    func explore() -> Exploration<State> {
        Exploration(from: State(threads: scripts.map { _ in Thread() })) { state, walk in
            var isAtRest = true
            for index in scripts.indices where step(index, in: state, &walk) { isAtRest = false }
            if isAtRest { checkRest(state, &walk) }
        }
    }

    /// Checks a state in which no thread can take a step.
    private func checkRest(_ state: State, _ walk: inout Exploration<State>) {
        for (thread, script) in zip(state.threads, scripts) where thread.operation < script.count {
            walk.fail("a thread waits for ever")
        }
        if state.endHasReturned && !state.isGivenBack { walk.fail("an ended input is never given back") }
        for loop in state.loops where loop.isMember && state.endHasReturned {
            walk.fail("an ended input stays in its loop")
        }
        if state.returnedRemovals & ~state.effectiveRemovals != 0 { walk.fail("a removal is forgotten") }
        for loop in state.loops where !loop.stack.isEmpty { walk.fail("a hand-over never takes effect") }
    }

    /// `giveBack`, and what must be true for it.
    func giveBack(by index: Int, in state: inout State, _ walk: inout Exploration<State>) {
        if state.isGivenBack { walk.fail("an input is given back twice") }
        state.isGivenBack = true
        let own = loops[index]
        for number in 1...2 where state.loops[number].isMember {
            if own != number { walk.fail("another thread takes an input out of its loop") }
            state.loops[number].isMember = false
        }
        let owner = state.word.loop
        if owner != 0 && owner != own && !state.loops[owner].isClosed {
            walk.fail("another thread releases the handler of a loop that runs")
        }
    }

    /// Checks that a call may count as under way from now on.
    func checkClaim(by index: Int, in state: State, _ walk: inout Exploration<State>) {
        if state.endHasReturned { walk.fail("a call begins after an end has returned") }
        if state.returnedRemovals & ~state.effectiveRemovals != 0 {
            walk.fail("a call begins after a removal has returned")
        }
        if !state.loops[loops[index]].isMember { walk.fail("the handler of a removed input is called") }
    }
}
