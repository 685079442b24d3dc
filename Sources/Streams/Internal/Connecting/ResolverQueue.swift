internal import DequeModule

/// The names that wait to be resolved, and the number of threads that resolve them.
///
/// A pure value.
struct ResolverQueue<Job: Sendable>: Sendable {
    private var jobs = Deque<Job>()
    /// The number of threads, including those that are being started.
    private var threads = 0
    private let mostThreads: Int

    /// Creates a queue without jobs.
    ///
    /// - Parameter mostThreads: The maximum number of threads.
    init(mostThreads: Int) { self.mostThreads = mostThreads }

    /// Adds a job.
    ///
    /// - Returns: True if the caller must start another thread. That thread is counted already.
    mutating func add(_ job: Job) -> Bool {
        jobs.append(job)
        if threads >= mostThreads { return false }
        threads += 1
        return true
    }

    /// Removes and returns the next job for a thread.
    ///
    /// - Parameter isAwaited: Returns false for a job that is to be discarded.
    /// - Returns: The job; nil if there is none. After nil, the thread must end, and is no longer counted.
    mutating func next(_ isAwaited: (Job) -> Bool) -> Job? {
        while let job = jobs.popFirst() { if isAwaited(job) { return job } }
        threads -= 1
        return nil
    }

    /// Records that a thread could not be started.
    ///
    /// - Returns: The jobs that were removed because no thread is left; none if another thread is running or being started.
    mutating func threadWasRefused() -> [Job] {
        threads -= 1
        // An array of an empty deque would write to the empty array, which all threads share.
        if threads > 0 || jobs.isEmpty { return [] }
        defer { jobs = [] }
        return Array(jobs)
    }

    /// Removes the jobs that match.
    mutating func removeAll(where matches: (Job) -> Bool) { jobs.removeAll(where: matches) }
}
