internal import RunLoops

/// The answers of loops that were asked for their details.
///
/// An answer that arrives too late is ignored.
struct LoopAnswers {
    private final class Collection: Sendable {
        let answers: Guarded<[Int: LoopDetails]>
        let gate = ThreadGate()
        let count: Int

        init(_ count: Int) {
            self.count = count
            answers = Guarded([:])
        }

        func add(_ details: LoopDetails, of index: Int) {
            let isComplete = answers.withLock { answers in
                answers[index] = details
                return answers.count == count
            }
            if isComplete { gate.open() }
        }
    }

    private let answers: [Int: LoopDetails]

    /// Asks loops, and waits for their answers.
    ///
    /// The calling thread's own loop is not asked, because it cannot answer while this call waits; its details are read directly.
    init(_ loops: [RunLoop], before deadline: ContinuousClock.Instant) {
        let asked = loops.enumerated().filter { !$0.element.isCurrent }
        let collection = Collection(asked.count)
        for (index, loop) in asked {
            loop.askForDetails { collection.add($0, of: index) }
        }
        if !asked.isEmpty { _ = collection.gate.wait(until: deadline) }
        var answers = collection.answers.withLock { $0 }
        for (index, loop) in loops.enumerated() where loop.isCurrent { answers[index] = loop.detailsHere }
        self.answers = answers
    }

    subscript(index: Int) -> LoopDetails? { answers[index] }
}
