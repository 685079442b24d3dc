import TestSupport

/// Threads that look up the observations of a key, and threads that change them, as a machine with a finite number of states.
///
/// The machine has one shard, one key, and a table with one place for the key's list. Its steps have the names of the functions
/// that make them: those of a reader (a post) are in `LookUpModel+Readers`, those of a writer (an add or a forget) in
/// `LookUpModel+Writers`. Each step reads or writes what other threads can see once.
///
/// The plain stores of a thread wait in its buffer until they are drained, oldest first, which can happen at any moment. An
/// unlock is such a store. The heavy fence drains the buffer of its own thread first, and then the others' one after the other.
/// A reader's reference counting drains nothing, because it is relaxed.
struct LookUpModel {
    /// A step that is left out, or made at the wrong time.
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
        /// `ObserverMap.add`: in place if the list has room, else in a list that replaces it.
        case add
        /// `ObserverMap.add` for another key: the table is full, and a larger one replaces it.
        case rebuild
        /// `Observation.remove`, and `ObserverMap.forget`.
        case forget
    }

    /// The number of look-ups of each reader.
    let readers: [Int]
    /// The changes that each writer makes.
    let writers: [[Change]]
    var fault: Fault?

    struct State: Hashable {
        // Shared by all threads.
        /// The table that the shard holds, 0 for none.
        var table = 0
        /// For each table the list at the key's place: 0 for an empty place, 1 for one whose list was taken out.
        var places = Octets()
        /// For each list the count of references.
        var references = Octets()
        /// For each list its observations, as bits: those that it counts, and those that were written into it.
        var counted = Octets()
        var filled = Octets()
        var isLocked = false
        /// For each record the number that is odd during a look-up.
        var lookups = Octets()
        /// The records that are published, and for each whether a thread has it.
        var recordCount = 0
        var takenRecords = Octets()

        // Kept for the checks.
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

    /// A list loses a reference, and with the last one its life.
    func release(_ list: Int, in state: inout State, _ walk: inout Exploration<State>) {
        if state.references[list] == 0 { return walk.fail("a list was released twice") }
        state.references[list] -= 1
    }

    /// No thread can take a step.
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
