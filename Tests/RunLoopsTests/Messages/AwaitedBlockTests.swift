import TestSupport
import Testing

@testable import RunLoops

/// The results of tasks that wait for a block.
@Suite struct AwaitedBlockTests {
    @Test func `a result decided at once is returned even if the deadline has passed`() async throws {
        let wait = AwaitedBlock<Int>()
        let result = try await wait.outcome(before: Moment(.now)) {
            // Long enough for the deadline to end the wait.
            let end = ContinuousClock.now + .milliseconds(50)
            while !wait.isDecided && .now < end {}
            wait.run { 1 }
        }
        #expect(result == 1)
    }

    @Test func `a block that has not started at the deadline is cancelled`() async {
        let wait = AwaitedBlock<Int>()
        await #expect(throws: PerformError.timedOut) { try await wait.outcome(before: Moment(.now)) {} }
        wait.run {
            Issue.record("it was cancelled")
            return 1
        }
    }
}
