import TestSupport

// The steps of a reader: a thread that posts.

extension LookUpModel {
    struct Reader: Hashable {
        enum Step: Hashable {
            /// `CallRecord.take`: `free`, or `make`, which publishes the record with an exchange.
            case takesRecord
            /// `CallRecord.lookUp`: the store of an odd number.
            case shows
            /// The load of the table in `ObserverMap.observers`, `ObserverTable.list`, and `ObserverList.retain`.
            case loadsTable, loadsList, retains
            /// `CallRecord.lookUp`: the store of an even number.
            case ends
            /// `Observers.init` and `subscript`, and `Observers.deinit`.
            case reads, releases
            /// `CallRecord.giveBackAll`: `giveBack`.
            case givesBack
            case done
        }

        var step = Step.takesRecord
        var lookUpsLeft: Int
        /// The index of the thread's record, or nil if it has none.
        var record: Int?
        /// The number of the thread's stores that other threads do not see yet; each adds 1 to the record's number.
        var buffered = 0
        var table = 0
        var list = 0
        /// The observations that were registered, and not removed, when the look-up began.
        var expected = 0
    }

    /// - Returns: False if the thread cannot take a step.
    func stepReader(_ index: Int, in before: State, _ walk: inout Exploration<State>) -> Bool {
        let reader = before.readers[index]
        if reader.buffered > 0 {
            var state = before
            drainReader(index, in: &state, all: false)
            walk.reach(state)
        }
        var state = before
        switch reader.step {
        case .takesRecord: takeRecord(index, in: &state)
        case .shows:
            if fault != .shownAfterLoading { expect(index, in: &state) }
            if fault != .notShown { state.readers[index].buffered += 1 }
            state.readers[index].step = fault == .shownAfterLoading ? .loadsList : .loadsTable
        case .loadsTable:
            if fault == .shownAfterLoading { expect(index, in: &state) }
            state.readers[index].table = state.table
            let next: Reader.Step = fault == .shownAfterLoading ? .shows : .loadsList
            state.readers[index].step = next
        case .loadsList:
            if reader.table == 0 {
                state.readers[index].step = .ends
                break
            }
            if state.livingTables[reader.table] == 0 { walk.fail("a table is read after its end") }
            let list = state.places[reader.table]
            state.readers[index].list = list > 1 ? list : 0
            let next: Reader.Step = fault == .endedBeforeRetain ? .ends : .retains
            state.readers[index].step = list > 1 && fault != .notRetained ? next : .ends
        case .retains:
            if state.references[reader.list] == 0 { walk.fail("a list is retained after its end") }
            state.references[reader.list] += 1
            state.readers[index].step = fault == .endedBeforeRetain ? .reads : .ends
        case .ends:
            if fault != .notShown { state.readers[index].buffered += 1 }
            let isRetained = fault != .endedBeforeRetain || reader.list == 0
            state.readers[index].step = isRetained ? .reads : .retains
        case .reads: read(index, in: &state, &walk)
        case .releases:
            if fault != .notRetained && reader.list != 0 { release(reader.list, in: &state, &walk) }
            state.readers[index].list = 0
            state.readers[index].table = 0
            state.readers[index].expected = 0
            state.readers[index].lookUpsLeft -= 1
            let isLast = reader.lookUpsLeft == 1
            state.readers[index].step = isLast ? .givesBack : firstStep
        case .givesBack:
            // This is a store, too, so it is seen after the earlier ones.
            guard reader.buffered == 0, let record = reader.record else { return reader.buffered > 0 }
            state.takenRecords[record] = 0
            state.readers[index].record = nil
            state.readers[index].step = .done
        case .done: return false
        }
        walk.reach(state)
        return true
    }

    private var firstStep: Reader.Step { fault == .shownAfterLoading ? .loadsTable : .shows }

    /// Records the observations that a post must find.
    private func expect(_ index: Int, in state: inout State) {
        state.readers[index].expected = state.added & ~state.removed
    }

    private func takeRecord(_ index: Int, in state: inout State) {
        let free = (0..<state.recordCount).last { state.takenRecords[$0] == 0 }
        if free == nil && fault == .publishedAfterShowing && state.readers[index].buffered == 0 {
            // The thread stores the odd number and loads the table before the record is published.
            expect(index, in: &state)
            state.readers[index].buffered = 1
            state.readers[index].table = state.table
            return
        }
        let record = free ?? state.recordCount
        if free == nil { state.recordCount += 1 }
        state.takenRecords[record] = 1
        state.readers[index].record = record
        let hasLoaded = state.readers[index].buffered > 0
        drainReader(index, in: &state, all: true)
        state.readers[index].step = hasLoaded ? .loadsList : firstStep
    }

    /// Calls the elements of the list.
    private func read(_ index: Int, in state: inout State, _ walk: inout Exploration<State>) {
        let reader = state.readers[index]
        let seen = reader.list == 0 ? 0 : state.counted[reader.list]
        if reader.list != 0 {
            if state.references[reader.list] == 0 { walk.fail("a list is read after its end") }
            if seen & ~state.filled[reader.list] != 0 { walk.fail("an element is read that is not there") }
        }
        if reader.expected & ~seen & ~state.removed != 0 { walk.fail("a post has missed an observation") }
        state.readers[index].step = .releases
    }

    /// Makes the stores of a reader visible to all threads.
    func drainReader(_ index: Int, in state: inout State, all: Bool) {
        guard let record = state.readers[index].record else { return }
        let count = all ? state.readers[index].buffered : 1
        state.lookups[record] += count
        state.readers[index].buffered -= count
    }
}
