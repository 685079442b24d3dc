import TestSupport
import Testing

@testable import RunLoops

/// The results of threads and tasks that wait for a block.
@Suite struct AwaitedBlockTests {
    @Test func `a result decided at once is returned even if the deadline has passed`() async throws {
        let wait = OneShot<Result<Int, any Error>>()
        let result = await wait.value(
            before: Moment(.now), timedOut: .failure(PerformError(.timedOut)),
            cancelled: .failure(CancellationError())
        ) {
            // Long enough for the deadline to end the wait.
            let end = ContinuousClock.now + .milliseconds(50)
            while !wait.isDecided && .now < end {}
            AwaitedBlock(for: wait) { 1 }.run()
        }
        #expect(try result.get() == 1)
    }

    @Test func `a block that was cancelled does not start`() {
        let wait = OneShot<Result<Int, any Error>>()
        let block = AwaitedBlock(for: wait) {
            Issue.record("it was cancelled")
            return 1
        }
        #expect(wait.decide(.failure(PerformError(.timedOut))))
        block.run()
        #expect(throws: PerformError(.timedOut)) { try wait.take().get() }
    }

    @Test func `a block that has started cannot be cancelled`() throws {
        let wait = OneShot<Result<String, any Error>>()
        AwaitedBlock(for: wait) {
            #expect(!wait.decide(.failure(PerformError(.timedOut))))
            return "finished"
        }.run()
        #expect(!wait.decide(.failure(PerformError(.timedOut))))
        wait.wait()
        #expect(try wait.take().get() == "finished")
    }

    @Test func `a block that is destroyed without having run ends the wait`() {
        let wait = OneShot<Result<Int, any Error>>()
        _ = AwaitedBlock(for: wait) { 1 }
        #expect(throws: PerformError(.loopEnded)) { try wait.take().get() }
    }
}

extension AwaitedBlock {
    /// A block that settles a value with what `block` returns or throws.
    convenience init<Value: Sendable>(
        for wait: OneShot<Result<Value, any Error>>, _ block: @escaping @Sendable () throws -> Value
    ) {
        self.init(wait, storeFailure: { wait.store(.failure($0)) }) { wait.settle(Result { try block() }) }
    }
}
