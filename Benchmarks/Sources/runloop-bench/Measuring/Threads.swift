internal import CThreadControl
internal import Dispatch
internal import Glibc
internal import Synchronization

/// A thread of this process, as the kernel knows it.
typealias ThreadNumber = Int32

extension ThreadNumber {
    /// The calling thread.
    static var current: ThreadNumber { bench_thread() }

    /// Lets this thread run on these processors only; what it starts later inherits that.
    func pin(to processors: [Int32]) {
        // A thread may have ended since it was seen, as a thread pool's do. Then there is nothing to pin.
        _ = bench_pin(self, processors, Int32(processors.count))
    }
}

/// A plain thread that runs one job after another.
///
/// Kept between rounds, so that no round pays for making a thread, nor for what libraries set up the first
/// time they meet one. It lasts as long as the program, unless it is ended.
final class WorkerThread: Sendable {
    private let jobs = Mutex<[@Sendable () -> Void]>([])
    private let queued = DispatchSemaphore(value: 0)
    private let finished = DispatchSemaphore(value: 0)
    private let identity = Atomic<ThreadNumber>(0)
    private let ends = Atomic<Bool>(false)
    private let handle = Mutex(pthread_t())

    /// The thread, for pinning.
    var number: ThreadNumber { identity.load(ordering: .acquiring) }

    /// Starts the thread and waits until it has a number.
    init() {
        run { [self] in identity.store(.current, ordering: .releasing) }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        let result = pthread_create(&thread, nil, WorkerThread.main, context)
        precondition(result == 0, "a few threads always fit")
        handle.withLock { [thread] in $0 = thread }
        wait()
    }

    /// Ends the thread after its last job, and waits until it has ended.
    func end() {
        run { [self] in ends.store(true, ordering: .relaxed) }
        pthread_join(handle.withLock { $0 }, nil)
    }

    /// Begins a job on the thread, once the jobs before it have ended.
    func run(_ job: @escaping @Sendable () -> Void) {
        jobs.withLock { $0.append(job) }
        queued.signal()
    }

    /// Waits until one more job has ended than were waited for before.
    func wait() { finished.wait() }

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

/// Lets threads begin at one moment.
final class StartingGate: Sendable {
    private let ready = Atomic<Int>(0)
    private let moment = Atomic<Int64>(0)

    /// When they began.
    var time: Int64 { moment.load(ordering: .acquiring) }

    /// Waits for the moment: every one of them calls it.
    func wait() -> Int64 {
        ready.add(1, ordering: .acquiringAndReleasing)
        while time == 0 { sched_yield() }
        return time
    }

    /// Begins as soon as so many threads wait.
    func go(threads: Int) {
        while ready.load(ordering: .acquiring) < threads { sched_yield() }
        moment.store(bench_now(), ordering: .releasing)
    }
}
