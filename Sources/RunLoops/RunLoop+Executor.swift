/// A loop as the executor of actors: their code runs on the loop's thread, and nowhere else.
///
/// ```swift
/// actor Gauge {
///     private let loop: RunLoop
///     nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
/// ```
///
/// <doc:SwiftConcurrency> tells how such an actor is written, and what it may rely on.
extension RunLoop: SerialExecutor {
    /// Has a job run on the loop's thread, in the common modes; what Swift calls, and nobody else has to.
    ///
    /// Jobs and performed blocks are run in the order in which they came from one thread, whatever the priority of
    /// a task. While an actor's job is being run no other one is: a run inside it serves everything but those.
    ///
    /// Jobs that wait when the loop's thread ends are run before it does. After that the program ends: the job can be
    /// neither run on the thread that the actor relies on, nor dropped without hanging whoever waits.
    ///
    /// - Parameter job: The job.
    /// - Precondition: The loop's thread has not ended.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func enqueue(_ job: consuming ExecutorJob) {
        if handle.enqueue(UnownedJob(job), .job) { return }
        misuse(
            "RunLoop.enqueue: a task goes on in an actor of \(description), whose thread has ended; "
                + "stop the thread when its actors have nothing left to do, "
                + "or let the actor own the thread and stop it in its deinit")
    }

    /// Whether the caller is on the loop's thread, so that it may assume the isolation of the loop's actors.
    ///
    /// It is in every handler of the loop: `assumeIsolated` of an actor that lives on the loop works there.
    ///
    /// - Returns: Whether it is; never nil.
    ///
    /// > Thread safety: any thread.
    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    /// Ends the program if the caller is not on the loop's thread.
    ///
    /// > Thread safety: any thread.
    public func checkIsolated() {
        if !isCurrent {
            misuse(
                "RunLoop.checkIsolated: called outside the loop's own thread (\(description)); "
                    + "await the actor, or perform a block on the loop")
        }
    }
}

extension LoopHandle {
    /// Puts a job in line.
    ///
    /// - Returns: False if the loop has ended; then the job is still the caller's.
    @inline(__always)
    func enqueue(_ job: UnownedJob, _ kind: Node.Kind) -> Bool {
        let node = Node.makeJob(job, kind)
        if let core = RunLoop.coreOfThread(with: self) {
            // Also while it ends: it runs the jobs that it has before it has ended.
            core.takeMail()
            core.blocks.append(node)
            return true
        }
        if send(Mailbox.Chain(node)) { return true }
        var releaser = NodeReleaser()
        releaser.release(node)
        return false
    }
}
