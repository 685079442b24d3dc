extension RunLoop {
    /// The executor of tasks that prefer a loop's thread; each loop has one, its ``RunLoop/taskExecutor``.
    ///
    /// ```swift
    /// let task = Task(executorPreference: worker.runLoop.taskExecutor) { await index.rebuild() }
    /// ```
    ///
    /// Code of the task and of its child tasks runs on the loop's thread if it is isolated to no actor, or to an actor without
    /// an executor of its own. Code that is isolated to another executor, such as the main actor's, and tasks that are not
    /// children, do not run there. The task's jobs run as performed blocks do: in the common modes, in turn, with any priority.
    ///
    /// The executor is a preference. Once the loop's thread has begun to end, such tasks continue on the default executor.
    ///
    /// A task holds the executor that it prefers. The executor does not hold the loop.
    ///
    /// > Thread safety: any thread.
    public final class TaskExecutor: _Concurrency.TaskExecutor {
        private let handle: LoopHandle

        init(handle: LoopHandle) { self.handle = handle }

        /// Enqueues a job for the loop's thread; Swift calls it, and your code does not need to.
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
