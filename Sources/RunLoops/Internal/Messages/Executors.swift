/// The two executors of one loop: one for the jobs of actors, and one for the jobs of tasks that prefer the loop.
///
/// `@safe`: both references are unowned. The loop holds the task executor. Only the loop's own thread uses these references, and it
/// holds the loop until all jobs are done.
@safe
struct Executors {
    let serial: UnownedSerialExecutor
    let task: UnownedTaskExecutor

    /// Enqueues a job on the default executor.
    static func enqueueElsewhere(_ job: UnownedJob) { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
}
