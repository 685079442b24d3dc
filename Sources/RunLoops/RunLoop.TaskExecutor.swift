extension RunLoop {
    /// What a task prefers that is to run on a loop's thread; ``RunLoop/taskExecutor`` is a loop's one.
    ///
    /// ```swift
    /// let task = Task(executorPreference: worker.runLoop.taskExecutor) { await index.rebuild() }
    /// ```
    ///
    /// What runs on the loop's thread is code of the task, and of its child tasks, that is isolated to no actor or to
    /// an actor without an executor of its own. What is isolated to another executor, such as the main actor, and
    /// tasks that are not children do not. The task's jobs are run as blocks are that are performed: in the common modes, in
    /// turn, whatever their priority.
    ///
    /// It is a preference: once the loop's thread has ended, or is ending, such tasks go on on the default executor.
    ///
    /// A task holds the executor that it prefers, and that does not hold the loop.
    ///
    /// > Thread safety: any thread.
    public final class TaskExecutor: _Concurrency.TaskExecutor {
        private let handle: LoopHandle

        init(handle: LoopHandle) { self.handle = handle }

        /// Has a job run on the loop's thread; what Swift calls, and nobody else has to.
        ///
        /// - Parameter job: The job.
        ///
        /// > Thread safety: any thread. Not in a signal handler.
        public func enqueue(_ job: consuming ExecutorJob) {
            let unowned = UnownedJob(job)
            if !handle.enqueue(unowned, .preferredJob) { TaskExecutor.enqueueElsewhere(unowned) }
        }

        /// Hands a job to the default executor.
        static func enqueueElsewhere(_ job: UnownedJob) {
            globalConcurrentExecutor.enqueue(ExecutorJob(job))
        }
    }
}
