internal import RunLoops

/// The answers of loops that were asked for their details.
///
/// An answer that arrives too late is ignored. A loop that ends has no details, and is not waited for.
struct LoopAnswers {
    private final class Collection: Sendable {
        struct Contents {
            var answers: [Int: LoopDetails] = [:]
            /// The number of asked loops that have neither answered nor ended.
            var missing: Int
        }

        let contents: Guarded<Contents>
        let gate = ThreadGate()

        init(_ count: Int) { contents = Guarded(Contents(missing: count)) }

        func add(_ details: LoopDetails?, of index: Int) {
            let isComplete = contents.withLock { contents in
                contents.answers[index] = details
                contents.missing -= 1
                return contents.missing == 0
            }
            if isComplete { gate.open() }
        }
    }

    private let answers: [Int: LoopDetails]

    /// Asks loops for their details, and waits until all have answered or the deadline has passed.
    ///
    /// The calling thread's own loop is not asked, because it cannot answer while this call waits; its details are read directly.
    init(_ loops: [RunLoop], before deadline: ContinuousClock.Instant) {
        let asked = loops.enumerated().filter { !$0.element.isCurrent }
        let collection = Collection(asked.count)
        for (index, loop) in asked {
            loop.askForDetails { collection.add($0, of: index) }
        }
        if !asked.isEmpty { _ = collection.gate.wait(until: deadline) }
        var answers = collection.contents.withLock { $0.answers }
        for (index, loop) in loops.enumerated() where loop.isCurrent { answers[index] = loop.detailsHere }
        self.answers = answers
    }

    subscript(index: Int) -> LoopDetails? { answers[index] }
}
