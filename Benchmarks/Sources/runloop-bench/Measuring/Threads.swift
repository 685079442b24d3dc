internal import CThreadControl
internal import Dispatch
internal import Glibc
internal import RunLoops
internal import Synchronization

/// The kernel's number for a thread of this process, or for a process.
typealias ThreadNumber = Int32

extension ThreadNumber {
    /// The number of the calling thread.
    static var current: ThreadNumber { bench_thread() }

    /// Restricts this thread, and the threads that it starts later, to the given processors.
    func pin(to processors: [Int32]) {
        // The kernel refuses if the thread has already ended, as threads of a pool do. Then there is nothing to pin.
        _ = bench_pin(self, processors, Int32(processors.count))
    }
}

extension RunLoopThread {
    /// Sets the wait policy of the loop, if one is given, and runs `body` on the loop's thread.
    ///
    /// - Parameters:
    ///   - policy: The wait policy; `nil` leaves the default.
    ///   - body: Adds the inputs of the loop.
    /// - Returns: The number of the thread, for pinning.
    /// - Throws: The error of `body`, or an error if the loop has ended.
    func prepare(
        _ policy: RunLoop.WaitPolicy? = nil, _ body: @escaping @Sendable () throws -> Void = {}
    ) throws -> ThreadNumber {
        try runLoop.performAndWait {
            if let policy { RunLoop.current.waitPolicy = policy }
            try body()
            return ThreadNumber.current
        }
    }
}

/// A plain thread that runs one job after another.
///
/// The thread is kept between rounds, so that no round includes the start of a thread, or the set-up that libraries do for each new
/// thread. It lasts as long as the program, or until ``end()``.
final class WorkerThread: Sendable {
    private let jobs = Mutex<[@Sendable () -> Void]>([])
    private let queued = DispatchSemaphore(value: 0)
    private let finished = DispatchSemaphore(value: 0)
    private let identity = Atomic<ThreadNumber>(0)
    private let ends = Atomic<Bool>(false)
    private let handle = Mutex(pthread_t())

    /// The number of the thread, for pinning.
    var number: ThreadNumber { identity.load(ordering: .acquiring) }

    /// Starts the thread and waits until its number is known.
    init() {
        run { [self] in identity.store(.current, ordering: .releasing) }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        let result = pthread_create(&thread, nil, WorkerThread.main, context)
        precondition(result == 0, "WorkerThread.init: pthread_create refused a thread")
        handle.withLock { [thread] in $0 = thread }
        wait()
    }

    /// Ends the thread after its last job, and waits until it has ended.
    func end() {
        run { [self] in ends.store(true, ordering: .relaxed) }
        pthread_join(handle.withLock { $0 }, nil)
    }

    /// Queues a job, which runs after the jobs before it.
    func run(_ job: @escaping @Sendable () -> Void) {
        jobs.withLock { $0.append(job) }
        queued.signal()
    }

    /// Waits for the end of the first job that no earlier call has waited for.
    func wait() { finished.wait() }

    /// Runs a job on the thread, and waits for its end.
    func runAndWait(_ job: @escaping @Sendable () -> Void) {
        run(job)
        wait()
    }

    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
        context in
        guard let context else { return nil }
        let worker = Unmanaged<WorkerThread>.fromOpaque(context).takeRetainedValue()
        while !worker.ends.load(ordering: .relaxed) {
            worker.queued.wait()
            let job = worker.jobs.withLock { $0.removeFirst() }
            job()
            worker.finished.signal()
        }
        return nil
    }
}

/// Starts several threads at the same moment.
final class StartingGate: Sendable {
    private let ready = Atomic<Int>(0)
    private let moment = Atomic<Int64>(0)

    /// The moment of the start, in nanoseconds on the monotonic clock, or zero before the start.
    var time: Int64 { moment.load(ordering: .acquiring) }

    /// Waits for the start, and returns the moment of the start.
    ///
    /// Each thread calls this function.
    func wait() -> Int64 {
        ready.add(1, ordering: .acquiringAndReleasing)
        while time == 0 { sched_yield() }
        return time
    }

    /// Starts the threads as soon as `threads` of them wait.
    func open(threads: Int) {
        while ready.load(ordering: .acquiring) < threads { sched_yield() }
        moment.store(bench_now(), ordering: .releasing)
    }
}

extension DispatchSemaphore {
    /// Waits for the end of a measurement, for at most two minutes.
    ///
    /// - Throws: ``Miscount`` if the measurement has not ended by then. Its threads can still be using its state.
    func waitForEnd() throws(Miscount) {
        if wait(timeout: .now() + .seconds(120)) != .success { throw Miscount(expected: 1, found: 0) }
    }
}
