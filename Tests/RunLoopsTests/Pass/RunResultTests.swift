import RunLoops
import Testing

/// The raw values of run results.
@Suite struct RunResultTests {
    // Guarantees: Raw values of modes, activities and run results stay those of Core Foundation.
    @Test func `run results have Core Foundation's numbers`() {
        let results: [RunLoop.RunResult] = [.finished, .stopped, .timedOut, .handledSource]
        #expect(results.map(\.rawValue) == [1, 2, 3, 4])
    }
}
