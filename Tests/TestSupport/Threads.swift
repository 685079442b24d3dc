internal import RunLoops

/// Threads that a test has started, each with a number and a loop, and that it waits for.
public final class Threads: Sendable {
    private let done: [Gate]
    private let failure = Guarded<(any Error)?>(nil)

    /// Starts so many threads.
    ///
    /// - Parameters:
    ///   - count: The number of them.
    ///   - body: The closure that each runs, given its number from 0 on. Its expectations count for the test run.
    /// - Throws: `SystemError` if there is no thread.
    public init(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        done = (0..<count).map { _ in Gate() }
        for index in 0..<count {
            try RunLoopThread.detach(name: "test \(index)") { _ in
                do { try body(index) } catch { self.failure.withLock { $0 = error } }
                self.done[index].open()
            }
        }
    }

    /// Waits until all have done what they do.
    ///
    /// - Parameter seconds: After how long the test is taken to hang.
    /// - Throws: The error of one of them, or ``TestHangs``.
    public func join(seconds: Int = 300) throws {
        for gate in done where !gate.wait(seconds: seconds) { throw TestHangs() }
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
