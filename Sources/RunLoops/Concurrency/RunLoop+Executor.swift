/// The loop as the executor of actors, whose code then runs on the loop's thread only.
///
/// An actor that conforms to ``RunLoopActor`` has the loop as its executor. <doc:SwiftConcurrency> shows such an actor, and
/// <doc:Tasks> describes the order of its jobs.
extension RunLoop: SerialExecutor {
    /// Enqueues a job for the loop's thread, in the common modes.
    ///
    /// Swift calls this method; your code does not need to call it. Jobs and performed blocks of one thread run in the order in
    /// which the thread sent them; the priority of a task does not matter. While an actor's job runs, no other actor's job runs: if
    /// the job runs the loop, that run serves everything except such jobs.
    ///
    /// If jobs wait when the loop's thread ends, the loop runs them first. If a job is enqueued later, the program ends: the thread
    /// that the actor relies on no longer exists, and if the job were discarded, its task would wait for ever.
    ///
    /// - Parameter job: The job.
    /// - Precondition: The loop's thread has not ended.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func enqueue(_ job: consuming ExecutorJob) {
        if handle.enqueue(UnownedJob(job), .job) { return }
        misuse(
            "RunLoop.enqueue: a task continues in an actor of \(description), whose thread has ended; "
                + "stop the thread when its actors have nothing left to do, "
                + "or let the actor own the thread and stop it in its deinit")
    }

    /// Returns true if the caller is on the loop's thread, and so isolated to the loop's actors.
    ///
    /// The method returns true in every handler of the loop. So a handler can call `assumeIsolated` of an actor on the loop.
    ///
    /// - Returns: True on the loop's thread, false on any other thread; never nil.
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
    /// Enqueues a job for the loop's thread.
    ///
    /// - Returns: False if the loop has ended. The caller still owns the job then.
    @inline(__always)
    func enqueue(_ job: UnownedJob, _ kind: Node.Kind) -> Bool {
        let node = Node.makeJob(job, kind)
        if let core = RunLoop.coreOfThread(with: self) {
            // The job can be appended even while the loop ends, because the loop runs all enqueued jobs before it has ended.
            core.takeMail()
            core.blocks.appendHere(node)
            return true
        }
        if send(Mailbox.Chain(node)) { return true }
        var releaser = NodeReleaser()
        releaser.release(node)
        return false
    }
}
