internal import CThreadControl
internal import Glibc
internal import Synchronization

/// Lets threads begin at one moment.
final class Start: Sendable {
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
