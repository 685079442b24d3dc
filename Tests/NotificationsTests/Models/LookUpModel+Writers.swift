import TestSupport

// The steps of a writer: a thread that registers or forgets.

extension LookUpModel {
    struct Writer: Hashable {
        enum Step: Hashable {
            /// `ObserverMap.change`: the lock, and the changes under the lock.
            case locks, changes
            /// The fences of `CallRecord.waitForReaders`: the thread's own first, then each reader's, then each writer's.
            case fences
            case fencesOther(Int)
            /// The load of the newest record, and for each record the first load and the later ones.
            case loadsNewest
            case looks(record: Int)
            case waits(record: Int, seen: Int)
            /// `Replaced.release`, for the list, and for the table with its list.
            case releasesList, releasesTable
            case returns
            case done
        }

        /// A store that other threads do not see yet.
        enum Store: Hashable {
            case fill(list: Int, bits: Int)
            case count(list: Int, bits: Int)
            case place(table: Int, list: Int)
            case table(Int)
            case unlock
            /// The add has returned: stands for any store by which another thread learns of the add.
            case returned(observation: Int)
        }

        var step = Step.locks
        var change = 0
        var buffer: [Store] = []
        /// The bit of the observation that is being added.
        var adds = 0
        var replacedList = 0
        var replacedTable = 0
        /// The newest record, if a fault loads it too early.
        var newest: Int?
    }

    /// - Returns: False if the thread cannot take a step.
    func stepWriter(_ index: Int, in before: State, _ walk: inout Exploration<State>) -> Bool {
        let writer = before.writers[index]
        if !writer.buffer.isEmpty {
            var state = before
            apply(state.writers[index].buffer.removeFirst(), to: &state)
            walk.reach(state)
        }
        var state = before
        switch writer.step {
        case .locks:
            if state.isLocked && fault != .changeWithoutLock { return !writer.buffer.isEmpty }
            state.isLocked = true
            // The exchange that acquires the lock drains the thread's own buffer.
            drainWriter(index, in: &state)
            if fault == .newestBeforeFence { state.writers[index].newest = state.recordCount }
            state.writers[index].step = .changes
            if fault == .fenceBeforeStoring {
                for other in readers.indices { drainReader(other, in: &state, all: true) }
            }
        case .changes: change(index, in: &state)
        case .fences:
            drainWriter(index, in: &state)
            state.writers[index].step = fault == .ownFenceOnly ? .loadsNewest : .fencesOther(0)
        case .fencesOther(let other):
            if other < readers.count {
                drainReader(other, in: &state, all: true)
            } else {
                drainWriter(other - readers.count, in: &state)
            }
            let isLast = other + 1 == readers.count + writers.count
            state.writers[index].step = isLast ? .loadsNewest : .fencesOther(other + 1)
        case .loadsNewest:
            state.writers[index].step = look(below: writer.newest ?? state.recordCount)
            state.writers[index].newest = nil
        case .looks(let record):
            let seen = state.lookups[record]
            let isOver = seen % 2 == 0
            state.writers[index].step = isOver ? after(record) : .waits(record: record, seen: seen)
        case .waits(let record, let seen):
            if state.lookups[record] == seen { return !writer.buffer.isEmpty }
            state.writers[index].step = after(record)
        case .releasesList:
            if writer.replacedList != 0 { release(writer.replacedList, in: &state, &walk) }
            state.writers[index].replacedList = 0
            state.writers[index].step = .releasesTable
        case .releasesTable:
            if writer.replacedTable != 0 {
                state.livingTables[writer.replacedTable] = 0
                let list = state.places[writer.replacedTable]
                if list > 1 { release(list, in: &state, &walk) }
            }
            state.writers[index].replacedTable = 0
            state.writers[index].step = .returns
        case .returns:
            if writer.adds != 0 { state.writers[index].buffer.append(.returned(observation: writer.adds)) }
            state.writers[index].adds = 0
            state.writers[index].change += 1
            let isLast = writer.change + 1 == writers[index].count
            state.writers[index].step = isLast ? .done : .locks
        case .done: return !writer.buffer.isEmpty
        }
        walk.reach(state)
        return true
    }

    private func look(below record: Int) -> Writer.Step {
        record == 0 ? .releasesList : .looks(record: record - 1)
    }

    private func after(_ record: Int) -> Writer.Step {
        fault == .waitsForNewestOnly ? .releasesList : look(below: record)
    }

    // MARK: - Under the lock

    private func change(_ index: Int, in state: inout State) {
        let table = state.table
        let list = table == 0 ? 0 : state.places[table]
        var writer = state.writers[index]
        switch writers[index][writer.change] {
        case .add: add(&writer, table, list, in: &state)
        case .rebuild: if table != 0 { rebuild(&writer, table, list, in: &state) }
        case .forget: if list > 1 { forget(&writer, table, list, in: &state) }
        }
        writer.buffer.append(.unlock)
        let hasReplaced = writer.replacedList != 0 || writer.replacedTable != 0
        writer.step = hasReplaced ? stepAfterUnlocking : .returns
        if fault == .tableLeftOut && writer.replacedList == 0 && hasReplaced { writer.step = .releasesTable }
        if writer.step == .returns { writer.newest = nil }
        state.writers[index] = writer
    }

    private var stepAfterUnlocking: Writer.Step {
        switch fault {
        case .noWait, .releaseBeforeWaiting: .releasesList
        case .noHeavyFence, .fenceBeforeStoring: .loadsNewest
        default: .fences
        }
    }

    /// `ObserverMap.add`.
    private func add(_ writer: inout Writer, _ table: Int, _ list: Int, in state: inout State) {
        let new = 1 << state.observationsMade
        state.observationsMade += 1
        writer.adds = new
        let known = list > 1 ? state.counted[list] : 0
        // The first list of a key has room for two elements.
        if list > 1 && known.nonzeroBitCount < 2 {
            let stores: [Writer.Store] = [
                .fill(list: list, bits: state.filled[list] | new), .count(list: list, bits: known | new),
            ]
            writer.buffer += fault == .countedBeforeFilled ? stores.reversed() : stores
            return
        }
        let larger = makeList(known & ~state.removed | new, in: &state)
        let target = table == 0 ? makeTable(in: &state) : table
        writer.buffer.append(.place(table: target, list: larger))
        if table == 0 { writer.buffer.append(.table(target)) }
        if list > 1 { writer.replacedList = list }
    }

    /// `ObserverTable.rebuilt`, and the exchange of the tables in `ObserverMap.change`.
    private func rebuild(_ writer: inout Writer, _ table: Int, _ list: Int, in state: inout State) {
        let larger = makeTable(in: &state)
        if list > 1 {
            if fault != .rebuiltWithoutRetain { state.references[list] += 1 }
            writer.buffer.append(.place(table: larger, list: list))
        }
        writer.buffer.append(.table(larger))
        writer.replacedTable = table
    }

    /// `ObserverMap.forget` for the oldest observation.
    private func forget(_ writer: inout Writer, _ table: Int, _ list: Int, in state: inout State) {
        let known = state.counted[list]
        let living = known & ~state.removed
        state.removed |= living & -living
        let kept = known & ~state.removed
        // `noteRemoval`: the list is replaced when at least half of its observations are removed.
        if (known & state.removed).nonzeroBitCount * 2 < known.nonzeroBitCount { return }
        writer.replacedList = list
        if kept != 0 {
            writer.buffer.append(.place(table: table, list: makeList(kept, in: &state)))
        } else {
            writer.buffer += [.place(table: table, list: 1), .table(0)]
            writer.replacedTable = table
        }
    }

    private func makeTable(in state: inout State) -> Int {
        state.tablesMade += 1
        state.livingTables[state.tablesMade] = 1
        return state.tablesMade
    }

    private func makeList(_ bits: Int, in state: inout State) -> Int {
        let list = state.listsMade + 2
        state.listsMade += 1
        state.references[list] = 1
        state.filled[list] = bits
        state.counted[list] = bits
        return list
    }

    // MARK: - The buffer

    private func drainWriter(_ index: Int, in state: inout State) {
        let stores = state.writers[index].buffer
        state.writers[index].buffer = []
        for store in stores { apply(store, to: &state) }
    }

    private func apply(_ store: Writer.Store, to state: inout State) {
        switch store {
        case .fill(let list, let bits): state.filled[list] = bits
        case .count(let list, let bits): state.counted[list] = bits
        case .place(let table, let list): state.places[table] = list
        case .table(let table): state.table = table
        case .unlock: state.isLocked = false
        case .returned(let observation): state.added |= observation
        }
    }
}
