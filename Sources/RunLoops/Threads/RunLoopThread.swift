/// A thread that runs its loop.
///
/// The loop is already running when the initializer returns. It runs until ``stop()``, even if it has no inputs.
///
/// ```swift
/// let worker = try RunLoopThread(name: "worker")
/// let sum = try worker.runLoop.performAndWait { numbers.reduce(0, +) }
/// worker.stop()
/// worker.join()
/// ```
///
/// Keep objects that are bound to the thread, such as the handle of a C library, in an actor that lives on the loop, or in a
/// handler that was made on the thread: <doc:SwiftConcurrency>.
///
/// Releasing the last reference does not end the thread; only ``stop()`` does.
///
/// > Thread safety: any thread.
public final class RunLoopThread: Sendable {
    /// The thread's loop.
    ///
    /// The loop runs in the default mode.
    public let runLoop: RunLoop

    /// The name of the thread.
    public let name: String

    let ended: EndNotice

    /// Starts a thread, and waits until its loop runs.
    ///
    /// - Parameters:
    ///   - name: The name of the thread and of its loop. The system keeps only the whole characters in the first 15 bytes.
    ///   - stackSize: The size of the thread's stack in bytes, at least 65,536, rounded up to whole pages; nil for the system's
    ///     default.
    ///   - processors: The numbers of the processors that the thread may use, each of which the process may use; nil for the
    ///     processors of this thread.
    ///   - priority: The scheduling of the thread; nil for the scheduling of this thread.
    /// - Throws: ``SystemError`` if the system refuses the thread, the descriptors of its loop, the stack size, the processors or
    ///   the priority. No thread is left behind.
    ///
    /// > Thread safety: any thread; the call blocks until the loop runs.
    public convenience init(
        name: String, stackSize: Int? = nil, processors: Set<Int>? = nil, priority: Priority? = nil
    ) throws(SystemError) {
        try self.init(name, stackSize, processors, priority, body: nil)
    }

    /// Starts a thread that serves the whole process, for example its connections to other processes.
    ///
    /// If the calling thread is part of a simulation, the new thread is not: the simulation neither schedules nor ends it.
    package convenience init(servingProcess name: String) throws(SystemError) {
        try self.init(name, nil, nil, nil, servesProcess: true, body: nil)
    }

    private init(
        _ name: String, _ stackSize: Int?, _ processors: Set<Int>?, _ priority: Priority?,
        servesProcess: Bool = false, body: (@Sendable (RunLoop) -> Void)?
    ) throws(SystemError) {
        let start = ThreadStart(
            name: name, processors: processors, priority: priority, servesProcess: servesProcess, body: body)
        runLoop = try start.start(stackSize: stackSize)
        self.name = name
        ended = start.ended
    }

    /// Starts a thread that calls a block, and that cannot be joined.
    ///
    /// The thread ends when the block returns. The loop runs only if the block runs it.
    ///
    /// - Parameters:
    ///   - name: The name of the thread and of its loop. The system keeps only the whole characters in the first 15 bytes.
    ///   - stackSize: The size of the thread's stack in bytes, at least 65,536, rounded up to whole pages; nil for the system's
    ///     default.
    ///   - processors: The numbers of the processors that the thread may use, each of which the process may use; nil for the
    ///     processors of this thread.
    ///   - priority: The scheduling of the thread; nil for the scheduling of this thread.
    ///   - block: Called on the new thread with the thread's loop.
    /// - Throws: ``SystemError`` for the same reasons as ``init(name:stackSize:processors:priority:)``.
    ///
    /// > Thread safety: any thread.
    public static func detach(
        name: String, stackSize: Int? = nil, processors: Set<Int>? = nil, priority: Priority? = nil,
        _ block: @escaping @Sendable (RunLoop) -> Void
    ) throws(SystemError) {
        _ = try RunLoopThread(name, stackSize, processors, priority, body: block)
    }

    /// Ends the loop's runs, and then the thread.
    ///
    /// The loop finishes its current pass. If handlers run the loop, these inner runs end, too. Blocks that still wait are
    /// destroyed without having run. Messages stay in their ports. A second call does nothing. In a forked child, which does not have
    /// the thread, the call does nothing.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func stop() { if !Fork.isChild { runLoop.handle.request(.end) } }

    /// Waits until the thread has ended its loop.
    ///
    /// When the call returns true, the loop's descriptors are closed, no matter why the thread has ended.
    ///
    /// If the thread waits for the calling thread, directly or through other threads, the waits form a circle, and the join would
    /// last for ever. In that case one of the other waits is refused, with ``PerformError/Reason/wouldDeadlock``,
    /// ``RequestError/Reason/wouldDeadlock`` or ``PortSendRefusal/wouldDeadlock``, so that the thread can end.
    ///
    /// - Parameters:
    ///   - deadline: The time at which the wait ends; nil for never.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Returns: False if the deadline passed first.
    /// - Precondition: The caller is not the thread itself. If the caller is in a block or an observer, and the thread waits for
    ///   the end of that block or observer, there is a deadline.
    ///
    /// > Thread safety: any thread but the thread itself.
    @available(*, noasync, message: "this blocks the thread; await the asynchronous join instead")
    @discardableResult
    public func join(
        before deadline: ContinuousClock.Instant? = nil, fileID: StaticString = #fileID, line: Int = #line
    ) -> Bool {
        if runLoop.isCurrent {
            misuse(
                "RunLoopThread.join: called on the thread itself, which would wait for its own end; call stop() only"
            )
        }
        let end = Moment(ofDeadline: deadline)
        let target = runLoop.waitTarget
        let wait = ThreadWait(
            in: "RunLoopThread.join", fileID: fileID, line: line, endsByItself: end != .never,
            for: { [target] })
        // If the deadline has passed, the call does not wait.
        if end == .never || end > Moment.now(), let circle = wait.beginOrBreakCircle() {
            misuse("RunLoopThread.join: it would never return, because \(circle); call stop() only")
        }
        defer { wait.end() }
        return ended.wait(until: end)
    }

    /// Waits until the thread has ended its loop, without blocking a thread.
    ///
    /// - Parameter deadline: The time at which the wait ends; nil for never.
    /// - Returns: False if the deadline passed first, or the task was cancelled.
    ///
    /// > Thread safety: any task. Do not await the call while the thread waits for this task.
    @discardableResult
    nonisolated(nonsending) public func join(before deadline: ContinuousClock.Instant? = nil) async -> Bool {
        await ended.wait(until: Moment(ofDeadline: deadline), isolation: #isolation)
    }
}

extension RunLoopThread: CustomStringConvertible {
    /// The name.
    public var description: String { "run loop thread \"\(name)\"" }
}
