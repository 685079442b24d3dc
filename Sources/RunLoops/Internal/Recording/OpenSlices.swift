internal import Synchronization

/// The activities that are under way on one thread, outermost first, for other threads to read.
///
/// Each such activity, for example a call of a handler, is a *slice*. `changes` is odd while a slice is being pushed. A reader
/// loads `changes` before and after it reads the slices. If both loads return the same even number, the reader has read a
/// consistent state: all these slices were under way at the same time.
struct OpenSlices: ~Copyable, Sendable {
    private let changes = Atomic<UInt64>(0)
    private let depth = Atomic<Int>(0)
    private let words = InlineArray<48, Atomic<UInt64>> { _ in Atomic(0) }

    var count: Int { depth.load(ordering: .relaxed) }

    func push(_ slice: RecordedEvent) {
        let depth = count
        if depth < EventRing.deepest {
            let change = changes.load(ordering: .relaxed)
            changes.store(change + 1, ordering: .relaxed)
            // The odd number is stored before the words, so that a reader that has read a new word detects the change.
            atomicMemoryFence(ordering: .releasing)
            let (first, second, third) = slice.words
            let place = depth * RecordedEvent.wordCount
            words[place].store(first, ordering: .relaxed)
            words[place + 1].store(second, ordering: .relaxed)
            words[place + 2].store(third, ordering: .relaxed)
            self.depth.store(depth + 1, ordering: .relaxed)
            changes.store(change + 2, ordering: .releasing)
        } else {
            self.depth.store(depth + 1, ordering: .relaxed)
        }
    }

    /// The innermost slice; nil if there is no slice, or if the innermost slice is nested too deeply.
    ///
    /// Only the thread that has pushed the slices may read this.
    var innermost: RecordedEvent? {
        let depth = count
        guard depth > 0, depth <= EventRing.deepest else { return nil }
        let place = (depth - 1) * RecordedEvent.wordCount
        return RecordedEvent(
            known: words[place].load(ordering: .relaxed), words[place + 1].load(ordering: .relaxed),
            words[place + 2].load(ordering: .relaxed))
    }

    /// Changes the `place` of the innermost slice with a single atomic store.
    func renameInnermost(_ place: UInt32) {
        guard var slice = innermost else { return }
        slice.place = place
        words[(count - 1) * RecordedEvent.wordCount + 1].store(slice.words.1, ordering: .relaxed)
    }

    func pop() { depth.store(max(0, count - 1), ordering: .releasing) }

    /// Returns a copy of the slices.
    ///
    /// - Parameter midway: A hook for tests, called between the two loads of `changes`.
    /// - Returns: The slices; an empty list if many attempts failed, because the thread pushed a slice during each of them.
    func copy(midway: () -> Void = {}) -> [RecordedEvent] {
        for _ in 0..<1_000 {
            let change = changes.load(ordering: .acquiring)
            if change % 2 != 0 { continue }
            let depth = min(count, EventRing.deepest)
            let slices = (0..<depth).compactMap { index in
                let place = index * RecordedEvent.wordCount
                return RecordedEvent(
                    words[place].load(ordering: .relaxed), words[place + 1].load(ordering: .relaxed),
                    words[place + 2].load(ordering: .relaxed))
            }
            midway()
            atomicMemoryFence(ordering: .acquiring)
            if changes.load(ordering: .relaxed) == change { return slices }
        }
        return []
    }
}
