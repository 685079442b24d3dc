internal import RunLoops

/// Threads that a test starts and joins, each of which has a number and a loop.
public final class Threads: Sendable {
    private let done: [Gate]
    private let failure = Locked<(any Error)?>(nil)

    /// Starts a number of threads.
    ///
    /// - Parameters:
    ///   - count: The number of threads.
    ///   - body: The closure that each thread runs, with the thread's number, which is counted from 0. Its expectations count for
    ///     the test.
    /// - Throws: `SystemError` if a thread cannot be made.
    public init(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        done = (0..<count).map { _ in Gate() }
        for index in 0..<count {
            try RunLoopThread.detach(name: "test \(index)") { _ in
                do { try body(index) } catch { self.failure.withLock { $0 = error } }
                self.done[index].open()
            }
        }
    }

    /// Waits until all threads have finished.
    ///
    /// - Parameter seconds: The time after which the test counts as hung.
    /// - Throws: The error of a thread, or ``TestHangs``.
    public func join(seconds: Int = 300) throws {
        for gate in done where !gate.wait(seconds: seconds) { throw TestHangs() }
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
