internal import CThreadControl
internal import Synchronization

/// Isolates the machine: a thread that does nothing but read the clock, and how late it sees each millisecond.
///
/// On a machine that does nothing else it is never late; what it is late by, others' work has taken from it.
final class BusyThread: Sendable {
    private let thread = WorkerThread()

    var number: ThreadNumber { thread.number }

    /// How late it saw the points of a grid of one millisecond, in nanoseconds, without those that it missed.
    func delays(length: Duration) -> [Int64] {
        let delays = Mutex<[Int64]>([])
        thread.run {
            let start = bench_now()
            let end = start + length.nanoseconds
            var next = start + 1_000_000
            var found: [Int64] = []
            found.reserveCapacity(1024)
            var now = start
            while now < end {
                now = bench_now()
                if now < next { continue }
                found.append(now - next)
                next += ((now - next) / 1_000_000 + 1) * 1_000_000
            }
            delays.withLock { $0 = found }
        }
        thread.wait()
        return delays.withLock { $0 }
    }
}
