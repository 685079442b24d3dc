import RunLoops

/// An executor that runs the jobs of tasks on the thread of a loop.
final class ThreadExecutor: TaskExecutor {
    private let loop: RunLoop

    init(_ loop: RunLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // Safe: each job is run once, here.
        loop.perform { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
