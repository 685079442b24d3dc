/// A thread that runs its loop.
///
/// The loop runs when the initializer returns, and goes on, with or without inputs, until ``stop()``.
///
/// ```swift
/// let worker = try RunLoopThread(name: "worker")
/// let sum = try worker.runLoop.performAndWait { numbers.reduce(0, +) }
/// worker.stop()
/// worker.join()
/// ```
///
/// What must stay on the thread, such as the handle of a C library that is bound to it, has its place in an actor that lives on
/// the loop, or in a handler that was made on the thread: <doc:SwiftConcurrency>.
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

    let ended: EndNotice

    /// Starts a thread, and waits until its loop runs.
    ///
    /// - Parameters:
    ///   - name: What the thread and its loop are called. The system keeps the first 15 bytes, whole characters
    ///     only.
    ///   - stackSize: The size of its stack in bytes, rounded up to whole pages; nil for the system's default.
    ///   - processors: The numbers of the processors that it may use; nil for those of this thread.
    ///   - priority: How it is scheduled; nil for as this thread.
    /// - Throws: ``SystemError``: no thread, no descriptors left for its loop, a stack size, processors or a priority
    ///   that the system refuses. No thread is left behind.
    public convenience init(
        name: String, stackSize: Int? = nil, processors: Set<Int>? = nil, priority: Priority? = nil
    ) throws(SystemError) {
        try self.init(name, stackSize, processors, priority, body: nil)
    }

    /// Starts a thread that serves the whole process: a test that drives the thread which starts it does not drive this one,
    /// and does not end it.
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

    /// Starts a thread that nobody waits for, and has it do something with its loop.
    ///
    /// The thread ends when the block returns; the block runs the loop if it wants to.
    ///
    /// - Parameters:
    ///   - name: As in ``init(name:stackSize:processors:priority:)``, and so are the next three.
    ///   - stackSize: The size of its stack.
    ///   - processors: The processors that it may use.
    ///   - priority: How it is scheduled.
    ///   - block: Called on the thread with its loop.
    /// - Throws: ``SystemError`` as ``init(name:stackSize:processors:priority:)``.
    public static func detach(
        name: String, stackSize: Int? = nil, processors: Set<Int>? = nil, priority: Priority? = nil,
        _ block: @escaping @Sendable (RunLoop) -> Void
    ) throws(SystemError) {
        _ = try RunLoopThread(name, stackSize, processors, priority, body: block)
    }

    /// Ends the loop's runs, and with them the thread.
    ///
    /// The pass that is under way is finished; runs inside handlers end too. Blocks that wait are destroyed without
    /// having run; messages stay in their ports. Again is harmless.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func stop() { runLoop.handle.request(.end) }

    /// Waits until the thread has ended its loop.
    ///
    /// Then the loop's descriptors are closed, whatever has ended the thread.
    ///
    /// If the other thread waits for this one, directly or through others, it would be for ever. Then a wait in that
    /// circle is refused, with ``PerformError/circle(_:)``, ``RequestError/circle(_:)`` or
    /// ``PortSendRefusal/wouldDeadlock``, so that the thread can end.
    ///
    /// - Parameters:
    ///   - deadline: When to give up; nil for never.
    ///   - fileID: Where it is called, for diagnostics.
    ///   - line: Where it is called, for diagnostics.
    /// - Returns: False if the deadline passed first.
    /// - Precondition: Neither called on the thread itself, nor, without a deadline, in a block or an observer whose end the
    ///   thread waits for.
    ///
    /// > Thread safety: any thread but this one.
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
        let end = deadline.map { Moment($0) } ?? .never
        let holding = runLoop.holding
        let wait = ThreadWait(
            in: "RunLoopThread.join", fileID: fileID, line: line, endsByItself: end != .never,
            for: { [holding] })
        // Where the deadline has passed nobody waits.
        if end == .never || end > Moment.now(), let circle = wait.beginAnyhow() {
            misuse("RunLoopThread.join: it would never return, because \(circle); call stop() only")
        }
        defer { wait.end() }
        return ended.gate.wait(until: end)
    }

    /// Waits until the thread has ended its loop, without blocking a thread.
    ///
    /// - Parameter deadline: When to give up; nil for never.
    /// - Returns: False if the deadline passed first, or the task was cancelled.
    ///
    /// > Thread safety: any task. Not to be awaited while the thread waits for this task.
    @discardableResult
    nonisolated(nonsending) public func join(before deadline: ContinuousClock.Instant? = nil) async -> Bool {
        let wait = AwaitedBlock<Void>()
        defer { ended.remove(wait) }
        do {
            let end = deadline.map { Moment($0) } ?? .never
            try await wait.outcome(before: end, isolation: #isolation) { ended.add(wait) }
            return true
        } catch { return false }
    }
}

extension RunLoopThread: CustomStringConvertible {
    /// The name.
    public var description: String { "run loop thread \"\(name)\"" }
}
