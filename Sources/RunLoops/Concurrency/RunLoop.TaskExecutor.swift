extension RunLoop {
    /// The executor of tasks that prefer a loop's thread: the ``RunLoop/taskExecutor`` of the loop.
    ///
    /// ```swift
    /// let task = Task(executorPreference: worker.runLoop.taskExecutor) { await index.rebuild() }
    /// ```
    ///
    /// Code of the task and of its child tasks runs on the loop's thread if it is isolated to no actor, or to an actor that has no
    /// custom executor. Code that is isolated to another executor, such as the main actor's executor, does not run there.
    /// The task can also start tasks that are not its child tasks; they do not run there, either. Like performed blocks, the task's
    /// jobs run in the common modes, in the order in which they were enqueued, whatever their priority.
    ///
    /// The executor is a preference. After the loop's thread has begun to end, tasks that prefer this executor continue on the
    /// default executor.
    ///
    /// A task holds the executor that it prefers. The executor does not hold the loop.
    ///
    /// > Thread safety: any thread.
    public final class TaskExecutor: _Concurrency.TaskExecutor {
        private let handle: LoopHandle

        init(handle: LoopHandle) { self.handle = handle }

        /// Enqueues a job for the loop's thread.
        ///
        /// Swift calls this method; your code does not need to call it.
        ///
        /// - Parameter job: The job.
        ///
        /// > Thread safety: any thread. Not in a signal handler.
        public func enqueue(_ job: consuming ExecutorJob) {
            let unowned = UnownedJob(job)
            if !handle.enqueue(unowned, .preferredJob) { Executors.enqueueElsewhere(unowned) }
        }
    }
}
