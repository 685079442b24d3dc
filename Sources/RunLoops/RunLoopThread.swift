/// A thread that runs its loop.
///
/// The loop runs when the initializer returns, and goes on, with or without inputs, until ``stop()``.
///
/// ```swift
/// let database = try RunLoopThread(name: "database")
/// let count = try database.runLoop.performAndWait { try connection.count() }
/// database.stop()
/// database.join()
/// ```
///
/// The thread lives on if the last reference goes; only ``stop()`` ends it.
///
/// > Thread safety: any thread.
public final class RunLoopThread: Sendable {
    /// The thread's loop.
    ///
    /// It runs in the default mode.
    public let runLoop: RunLoop

    /// The name that was given.
    public let name: String

    private let ended: ThreadGate

    /// Starts a thread, and waits until its loop runs.
    ///
    /// - Parameters:
    ///   - name: What the thread and its loop are called. The system keeps the first 15 bytes, whole characters
    ///     only.
    ///   - stackSize: The size of its stack in bytes, rounded up to whole pages; nil for the system's default.
    ///   - processors: The numbers of the processors that it may use; nil for those of this thread.
    /// - Throws: ``SystemError``: no thread, no descriptors left for its loop, a stack size or processors that the
    ///   system refuses. No thread is left behind.
    public convenience init(name: String, stackSize: Int? = nil, processors: Set<Int>? = nil)
        throws(SystemError)
    {
        try self.init(name: name, stackSize: stackSize, processors: processors, body: nil)
    }

    private init(
        name: String, stackSize: Int?, processors: Set<Int>?, body: (@Sendable (RunLoop) -> Void)?
    ) throws(SystemError) {
        let start = ThreadStart(name: name, processors: processors, body: body)
        runLoop = try start.start(stackSize: stackSize)
        self.name = name
        ended = start.ended
    }

    /// Starts a thread that nobody waits for, and has it do something with its loop.
    ///
    /// The thread ends when the block returns; the block runs the loop if it wants to.
    ///
    /// - Parameters:
    ///   - name: As in ``init(name:stackSize:processors:)``.
    ///   - block: Called on the thread with its loop.
    /// - Throws: ``SystemError`` as ``init(name:stackSize:processors:)``.
    public static func detach(name: String, _ block: @escaping @Sendable (RunLoop) -> Void)
        throws(SystemError)
    {
        _ = try RunLoopThread(name: name, stackSize: nil, processors: nil, body: block)
    }

    /// Ends the loop's runs, and with them the thread.
    ///
    /// The pass that is under way is finished; runs inside handlers end too. Blocks that wait are destroyed without
    /// having run; messages stay in their ports. Again is harmless.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func stop() { runLoop.inbox.request(.end) }

    /// Waits until the thread has ended its loop.
    ///
    /// - Parameter deadline: When to give up; nil for never.
    /// - Returns: False if the deadline passed first.
    ///
    /// > Thread safety: any thread but this one.
    @available(*, noasync, message: "this blocks the thread")
    @discardableResult
    public func join(before deadline: ContinuousClock.Instant? = nil) -> Bool {
        if runLoop.isCurrent {
            misuse(
                "RunLoopThread.join: called on the thread itself, which would wait for its own end; call stop() only"
            )
        }
        return ended.wait(until: deadline.map { Moment($0) } ?? .never)
    }
}
