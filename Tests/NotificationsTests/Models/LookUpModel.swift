import TestSupport

/// A finite state machine of threads that look up the observations of a key, and threads that change them.
///
/// The machine has one shard, one key, and a table with one place for the key's list. Its steps have the names of the functions
/// that make them. The steps of a reader (a post) are in `LookUpModel+Readers`, those of a writer (an add or a forget) in
/// `LookUpModel+Writers`. Each step reads or writes shared memory at most once.
///
/// The plain stores of a thread wait in its buffer until they are drained, oldest first, which can happen at any moment. An unlock
/// is a plain store. The heavy fence drains the buffer of its own thread first, and then those of the other threads, one after
/// another. The reference counting of a reader drains no buffer, because it is relaxed.
struct LookUpModel {
    /// A step that is missing, or made at the wrong time.
    enum Fault: CaseIterable {
        // In `CallRecord.waitForReaders`.
        case noHeavyFence, ownFenceOnly, newestBeforeFence, noWait, waitsForNewestOnly
        // In `ObserverMap.change` and `Replaced.release`.
        case fenceBeforeStoring, releaseBeforeWaiting, tableLeftOut, changeWithoutLock
        // In `ObserverMap.add`, `ObserverTable.rebuilt` and `ObserverList.append`.
        case rebuiltWithoutRetain, countedBeforeFilled
        // In `CallRecord.lookUp` and `ObserverMap.observers`.
        case notShown, shownAfterLoading, endedBeforeRetain, notRetained
        // In `CallRecord.make`.
        case publishedAfterShowing
    }

    /// A change of the key's observations.
    enum Change: Hashable, Sendable {
        /// `ObserverMap.add`: in place if the list has room, otherwise in a new list that replaces it.
        case add
        /// `ObserverMap.add` for another key, when the table is full: a larger table replaces it.
        case rebuild
        /// `Observation.remove`, and `ObserverMap.forget`.
        case forget
    }

    let readers: [Int]
    /// The changes of each writer.
    let writers: [[Change]]
    var fault: Fault?

    struct State: Hashable {
        // Shared by all threads.
        /// The table that the shard holds, or 0 if it has none.
        var table = 0
        /// For each table the list at the place of the key: 0 if the place is empty, 1 if its list was removed.
        var places = Octets()
        /// The reference count of each list.
        var references = Octets()
        /// The observations of each list, as bits: in `counted` those that the list counts, in `filled` those that were written.
        var counted = Octets()
        var filled = Octets()
        var isLocked = false
        /// The number of each record, which is odd during a look-up.
        var lookups = Octets()
        /// The number of published records, and for each record 1 if a thread has it.
        var recordCount = 0
        var takenRecords = Octets()

        // For the checks only.
        var tablesMade = 0
        var livingTables = Octets()
        var listsMade = 0
        /// The observations whose add has returned, and those whose removal has begun, as bits.
        var added = 0
        var removed = 0
        var observationsMade = 0

        var readers: [Reader]
        var writers: [Writer]
    }

    /// Visits every state that can be reached.
    func explore() -> Exploration<State> {
        let start = State(
            readers: readers.map { Reader(lookUpsLeft: $0) }, writers: writers.map { _ in Writer() })
        return Exploration(from: start) { state, walk in
            var isAtRest = true
            for index in readers.indices where stepReader(index, in: state, &walk) { isAtRest = false }
            for index in writers.indices where stepWriter(index, in: state, &walk) { isAtRest = false }
            if isAtRest { checkRest(state, &walk) }
        }
    }

    /// Releases a list, which ends with its last reference.
    func release(_ list: Int, in state: inout State, _ walk: inout Exploration<State>) {
        if state.references[list] == 0 { return walk.fail("a list was released twice") }
        state.references[list] -= 1
    }

    /// Checks a state in which no thread can take a step.
    private func checkRest(_ state: State, _ walk: inout Exploration<State>) {
        for reader in state.readers where reader.step != .done { walk.fail("a reader waits for ever") }
        for writer in state.writers where writer.step != .done { walk.fail("a writer waits for ever") }
        for table in 1..<state.tablesMade + 1 {
            let isHeld = state.livingTables[table] == 1
            if isHeld != (table == state.table) { walk.fail("a table is left, or is missing") }
        }
        let current = state.table == 0 ? 0 : state.places[state.table]
        for list in 2..<state.listsMade + 2 {
            let expected = list == current ? 1 : 0
            if state.references[list] != expected { walk.fail("a reference is left, or is missing") }
        }
        let registered = state.added & ~state.removed
        if registered != 0 && (current < 2 || registered & ~state.counted[current] != 0) {
            walk.fail("an observation was lost")
        }
    }
}
