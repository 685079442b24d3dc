import TestSupport

extension EndModel {
    /// Makes every step that a thread can make in a state.
    ///
    /// - Returns: False if the thread can make no step.
    func step(_ index: Int, in state: State, _ walk: inout Exploration<State>) -> Bool {
        var next = state
        guard move(index, &next, &walk) else { return false }
        walk.reach(next)
        return true
    }

    private func move(_ index: Int, _ state: inout State, _ walk: inout Exploration<State>) -> Bool {
        let own = loops[index]
        switch state.threads[index].step {
        case .begins: return begin(index, &state)
        case .joinCompares:
            let seen = state.threads[index].seen
            if seen.hasEnded && fault != .joinAfterEnd {
                done(index, &state)
            } else if state.word != seen && fault != .joinAfterEnd {
                state.threads[index].seen = state.word
            } else {
                state.word.loop = own
                state.threads[index].step = .joinAdds
            }
        case .joinAdds:
            if state.isGivenBack { walk.fail("an input that was given back joins a loop") }
            state.loops[own].isMember = true
            done(index, &state)
        case .looks: look(index, &state, &walk)
        case .clears:
            state.word.isRemoved = false
            state.threads[index].step = fault == .removalClearedAfterTaking ? .looks : .takes
        case .takes: take(index, &state)
        case .takesEffect: takeEffect(index, &state, &walk)
        case .calls: done(index, &state)
        case .endMarks: markEnd(index, &state, &walk)
        case .endPushes:
            let loop = state.threads[index].seen.loop
            if state.word.loop != loop { walk.fail("a handle is used after its release") }
            if state.loops[loop].isClosed {
                state.threads[index].step = .endIsRefused
            } else {
                state.loops[loop].stack.append(0)
                state.threads[index].step = .endRequests
            }
        case .endRequests:
            if fault != .handOverWithoutRequest {
                state.loops[state.threads[index].seen.loop].isRequested = true
            }
            returnFromEnd(index, &state)
        case .endIsRefused:
            if fault != .refusedHandOverForgotten { beginGivingBack(index, &state, &walk) }
            returnFromEnd(index, &state)
        case .removePushes:
            let loop = removalLoop(of: state.threads[index].operation, index)
            if !state.loops[loop].isClosed { state.loops[loop].stack.append(removal(index, in: state)) }
            state.threads[index].step = .removeRequests
        case .removeRequests:
            state.loops[removalLoop(of: state.threads[index].operation, index)].isRequested = true
            if fault == .removalMarkedBeforeHandOver {
                returnFromRemoval(index, &state)
            } else {
                state.threads[index].step = .removeMarks
            }
        case .removeMarks:
            state.word.isRemoved = true
            if fault == .removalMarkedBeforeHandOver {
                state.threads[index].step = .removePushes
            } else {
                returnFromRemoval(index, &state)
            }
        case .finishRemoves:
            if state.loops[own].isMember {
                beginGivingBack(index, &state, &walk)
                state.loops[own].isMember = false
            }
            if fault == .closeBeforeRemoving {
                done(index, &state)
            } else {
                state.threads[index].step = .finishCloses
            }
        case .finishCloses:
            let rest = state.loops[own].stack.removeAll()
            if fault != .closeDropsHandOvers { state.threads[index].taken = rest }
            state.effectiveRemovals = ~0
            state.loops[own].isClosed = true
            state.threads[index].step = .takesEffect
            state.threads[index].next = fault == .closeBeforeRemoving ? .finishRemoves : .begins
            if fault != .closeBeforeRemoving { state.threads[index].operation += 1 }
        case .takesRequest:
            if fault == .requestClearedAfterTaking {
                state.threads[index].taken = state.loops[own].stack.removeAll()
                state.threads[index].step = .takesEffect
                // The request is cleared with the last of what has been taken.
                state.threads[index].next = .begins
                return true
            }
            state.loops[own].isRequested = false
            state.threads[index].next = .begins
            state.threads[index].step = .takes
        }
        return true
    }

    /// `LoopMembers.admits`.
    private func look(_ index: Int, _ state: inout State, _ walk: inout Exploration<State>) {
        let isUntouched = !state.word.hasEnded && !state.word.isRemoved
        if isUntouched || fault == .callWithoutLooking {
            if !state.loops[loops[index]].isMember && fault != .callAfterRemoval {
                return done(index, &state)
            }
            checkClaim(by: index, in: state, &walk)
            state.threads[index].step = .calls
        } else if state.word.hasEnded {
            done(index, &state)
        } else {
            let clearsLast = fault == .removalClearedAfterTaking
            state.threads[index].step = clearsLast ? .takes : .clears
            state.threads[index].next = clearsLast ? .clears : .looks
        }
    }

    /// Begins the next operation, or takes what was handed over to a loop that has nothing else to do.
    private func begin(_ index: Int, _ state: inout State) -> Bool {
        let own = loops[index]
        let thread = state.threads[index]
        guard thread.operation < scripts[index].count else {
            if own == 0 || state.loops[own].isClosed || !state.loops[own].isRequested { return false }
            state.threads[index].step = .takesRequest
            return true
        }
        state.threads[index].seen = state.word
        switch scripts[index][thread.operation] {
        case .join:
            for other in loops.indices where loops[other] != 0 && other < index {
                if state.threads[other].operation < scripts[other].count { return false }
            }
            state.threads[index].step = .joinCompares
        case .call:
            if !state.loops[own].isMember {
                done(index, &state)
            } else {
                state.threads[index].step = .looks
            }
        case .leave:
            state.loops[own].isMember = false
            done(index, &state)
        case .finish:
            state.threads[index].step = fault == .closeBeforeRemoving ? .finishCloses : .finishRemoves
        case .end: state.threads[index].step = .endMarks
        case .remove:
            state.threads[index].step =
                fault == .removalMarkedBeforeHandOver ? .removeMarks : .removePushes
        }
        return true
    }

    private func done(_ index: Int, _ state: inout State) {
        state.threads[index].operation += 1
        state.threads[index].step = .begins
    }

    /// `InputEnd.begin`, up to the exchange of the word.
    private func markEnd(_ index: Int, _ state: inout State, _ walk: inout Exploration<State>) {
        let seen = state.threads[index].seen
        let isHere = seen.loop == 0 || seen.loop == loops[index] || fault == .endAlwaysHere
        if isHere ? seen.isGivenBack : seen.hasEnded { return returnFromEnd(index, &state) }
        if state.word != seen && fault != .endMarkedWithoutComparing {
            state.threads[index].seen = state.word
            return
        }
        state.word.hasEnded = true
        if isHere {
            state.word.isGivenBack = true
            giveBack(by: index, in: &state, &walk)
            returnFromEnd(index, &state)
        } else {
            state.threads[index].step = .endPushes
        }
    }

    private func returnFromEnd(_ index: Int, _ state: inout State) {
        state.endHasReturned = true
        done(index, &state)
    }

    private func returnFromRemoval(_ index: Int, _ state: inout State) {
        state.returnedRemovals |= 1 << removal(index, in: state)
        done(index, &state)
    }

    /// The number that stands for the removal that a thread makes.
    private func removal(_ index: Int, in state: State) -> Int {
        2 * index + state.threads[index].operation + 1
    }

    private func removalLoop(of operation: Int, _ index: Int) -> Int {
        if case .remove(let loop) = scripts[index][operation] { loop } else { 0 }
    }

    /// `InputEnd.beginGivingBack`, and then `giveBack`.
    private func beginGivingBack(_ index: Int, _ state: inout State, _ walk: inout Exploration<State>) {
        let wasGivenBack = state.word.isGivenBack
        state.word.hasEnded = true
        state.word.isGivenBack = true
        if !wasGivenBack || fault == .givenBackTwice { giveBack(by: index, in: &state, &walk) }
    }

    /// `HandOverStack.takeAll`.
    private func take(_ index: Int, _ state: inout State) {
        state.threads[index].taken = state.loops[loops[index]].stack.removeAll()
        state.threads[index].step = .takesEffect
    }

    /// `HandOver.takeEffect` of the oldest of the taken hand-overs.
    private func takeEffect(_ index: Int, _ state: inout State, _ walk: inout Exploration<State>) {
        switch state.threads[index].taken.popFirst() {
        case nil:
            if fault == .requestClearedAfterTaking { state.loops[loops[index]].isRequested = false }
            state.threads[index].step = state.threads[index].next
        case 0: beginGivingBack(index, &state, &walk)
        case let removal?:
            state.effectiveRemovals |= 1 << removal
            state.loops[loops[index]].isMember = false
        }
    }
}
