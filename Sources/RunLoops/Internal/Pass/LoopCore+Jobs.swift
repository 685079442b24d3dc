// Running the jobs of tasks and actors.

/// What the jobs of a loop are run on.
///
/// `@safe`: both references are unowned. The loop holds the task executor, and the loop's own thread, which alone
/// uses these, holds the loop until all jobs are done.
@safe
struct Executors {
    let serial: UnownedSerialExecutor
    let task: UnownedTaskExecutor

    init(serial: RunLoop, task: RunLoop.TaskExecutor) {
        unsafe self.serial = serial.asUnownedSerialExecutor()
        unsafe self.task = task.asUnownedTaskExecutor()
    }
}

extension LoopCore {
    /// Runs a job until its task suspends, ends, or goes on elsewhere.
    func run(_ job: LoopJob) {
        jobsOnStack += 1
        // On exactly the executor that it was enqueued on. Told of both, Swift would go through the loop again for each
        // call of a function that is isolated to nobody, or for each from one actor of the loop to another.
        if job.isPreferred {
            unsafe job.job.runSynchronously(on: executors.task)
        } else {
            blocks.jobBegins()
            unsafe job.job.runSynchronously(on: executors.serial)
            blocks.jobEnds()
        }
        jobsOnStack -= 1
    }

    /// Ends the program if the thread ends in the middle of a job: nobody can end its task, nor tell those who await that.
    func requireNoJobOnStack() {
        if jobsOnStack > 0 {
            misuse(
                "RunLoop: its thread was ended inside a job of an actor or a task, which never ends then for whoever awaits it; let the job return, and end the thread in a block"
            )
        }
    }

    /// Runs what actors have left to do, and sends tasks that only prefer the loop elsewhere: the thread ends.
    ///
    /// A job cannot be destroyed: its task would never end, nor would whoever waits for it. What jobs enqueue
    /// meanwhile is run too. Preferring tasks are not run: one that yields again and again would keep the thread
    /// from ending.
    func runLastJobs() {
        blocks.modeDidChange()
        takeMail()
        var releaser = NodeReleaser()
        while let node = blocks.nextJob() {
            let job = node.takeJob(&releaser)
            if job.isPreferred {
                RunLoop.TaskExecutor.enqueueElsewhere(job.job)
            } else {
                run(job)
            }
            takeMail()
        }
    }
}
