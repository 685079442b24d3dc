internal import CRunLoops
internal import Synchronization

/// Threads with a loop each, among which work is distributed in turn.
///
/// ```swift
/// let group = try RunLoopThreadGroup(name: "worker")
/// for job in jobs {
///     group.next().perform { run(job) }
/// }
/// group.stop()
/// group.join()
/// ```
///
/// The loops are running when the initializer returns, and run until ``stop()``. Releasing the last reference does not end the
/// threads; only ``stop()`` does.
///
/// > Thread safety: any thread.
public final class RunLoopThreadGroup: Sendable {
    /// The threads, in the order of their turns.
    public let threads: [RunLoopThread]

    /// The number of turns that ``next()`` has given.
    private let turns = Atomic<UInt>(0)

    /// The number of processors that the process was allowed to use when it started, which is at least 1.
    ///
    /// > Thread safety: any thread.
    public static var processorCount: Int { Int(runloops_usable_processors()) }

    /// Starts threads, and waits until all of their loops run.
    ///
    /// - Parameters:
    ///   - count: The number of threads. A number below 1 ends the program with a message.
    ///   - name: The name of the threads and of their loops, to which each thread adds its index: "worker 0". The system keeps only
    ///     the whole characters in the first 15 bytes.
    /// - Throws: ``SystemError`` if the system refuses a thread or the descriptors of its loop. The threads that were started until
    ///   then have ended.
    ///
    /// > Thread safety: any thread; the call blocks until the loops run.
    public init(count: Int = RunLoopThreadGroup.processorCount, name: String) throws(SystemError) {
        if count < 1 { misuse("RunLoopThreadGroup.init: a group of \(count) threads; use one or more") }
        var threads: [RunLoopThread] = []
        do throws(SystemError) {
            for index in 0..<count { threads.append(try RunLoopThread(name: "\(name) \(index)")) }
        } catch {
            RunLoopThreadGroup.end(threads)
            throw error
        }
        self.threads = threads
    }

    private static func end(_ threads: [RunLoopThread]) {
        for thread in threads { thread.stop() }
        for thread in threads { thread.join() }
    }

    /// The loop whose turn it is.
    ///
    /// The loops get their turns one after the other, whatever work they have.
    ///
    /// - Returns: The loop.
    ///
    /// > Thread safety: any thread.
    public func next() -> RunLoop {
        let turn = turns.wrappingAdd(1, ordering: .relaxed).oldValue
        return threads[Int(turn % UInt(threads.count))].runLoop
    }

    /// Ends all loops' runs, and then the threads; see ``RunLoopThread/stop()``.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func stop() { for thread in threads { thread.stop() } }

    /// Waits until all threads have ended their loops; see ``RunLoopThread/join(before:fileID:line:)``.
    ///
    /// - Parameters:
    ///   - deadline: The time at which the wait ends; nil for never.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Returns: False if the deadline passed first.
    /// - Precondition: The caller is on none of the threads.
    ///
    /// > Thread safety: any thread but those of the group.
    @available(*, noasync, message: "this blocks the thread; await the asynchronous join instead")
    @discardableResult
    public func join(
        before deadline: ContinuousClock.Instant? = nil, fileID: StaticString = #fileID, line: Int = #line
    ) -> Bool {
        threads.allSatisfy { $0.join(before: deadline, fileID: fileID, line: line) }
    }

    /// Waits until all threads have ended their loops, without blocking a thread.
    ///
    /// - Parameter deadline: The time at which the wait ends; nil for never.
    /// - Returns: False if the deadline passed first, or the task was cancelled.
    ///
    /// > Thread safety: any task. Do not await the call while one of the threads waits for this task.
    @discardableResult
    nonisolated(nonsending) public func join(before deadline: ContinuousClock.Instant? = nil) async -> Bool {
        for thread in threads where await !thread.join(before: deadline) { return false }
        return true
    }
}

extension RunLoopThreadGroup: CustomStringConvertible {
    /// The number of the threads, and the name of the first.
    public var description: String { "group of \(threads.count) threads from \"\(threads[0].name)\"" }
}
