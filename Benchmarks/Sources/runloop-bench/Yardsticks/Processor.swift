internal import CThreadControl
internal import Synchronization

/// The lower bound of the hardware: two threads on two processors, each of which watches a word that the other writes.
///
/// Read the p50 to know the machine: no spinning loop answers sooner. On a virtual machine, the p50 of one run can be several times
/// the p50 of another, because the host moves the processors. Throughputs change with the p50.
final class CacheLinePingPong: PingPong, @unchecked Sendable {
    // Safe because the words are atomic, and live as long as this object, to which the threads' jobs hold references.
    private let words: UnsafeMutablePointer<Words>
    private let near = WorkerThread()
    private let far = WorkerThread()
    private let timer: RoundTripTimer

    /// Two words on different cache lines.
    private struct Words: ~Copyable {
        let ping = Atomic<Int>(0)
        let padding = InlineArray<31, Int>(repeating: 0)
        let pong = Atomic<Int>(0)
    }

    private static let end = -1

    init(timer: RoundTripTimer) {
        self.timer = timer
        words = UnsafeMutableRawPointer.allocate(byteCount: 512, alignment: 128)
            .bindMemory(to: Words.self, capacity: 1)
        words.initialize(to: Words())
    }

    deinit {
        words.deinitialize(count: 1)
        UnsafeMutableRawPointer(words).deallocate()
    }

    var nearThreads: [ThreadNumber] { [near.number] }
    var farThreads: [ThreadNumber] { [far.number] }

    func start() {
        near.run { [self] in
            words.pointee.ping.store(0, ordering: .relaxed)
            far.run { [self] in answer() }
            timer.begin()
            var number = 0
            repeat {
                number += 1
                words.pointee.ping.store(number, ordering: .releasing)
                while words.pointee.pong.load(ordering: .acquiring) != number { bench_pause() }
            } while timer.answered()
            words.pointee.ping.store(Self.end, ordering: .releasing)
            far.wait()
        }
    }

    private func answer() {
        var last = 0
        while last != Self.end {
            let number = words.pointee.ping.load(ordering: .acquiring)
            if number == last {
                bench_pause()
            } else {
                words.pointee.pong.store(number, ordering: .releasing)
            }
            last = number
        }
    }
}

/// The lateness of the machine: of a thread that only reads the clock, at each millisecond.
///
/// On an otherwise idle machine, the thread is never late. Any lateness is time that other work took from the thread.
final class ClockReader: Sendable {
    private let thread = WorkerThread()

    var number: ThreadNumber { thread.number }

    /// The lateness at each point of a grid of one millisecond, in nanoseconds, without the points that the thread missed.
    func delays(length: Duration) -> [Int64] {
        let delays = Mutex<[Int64]>([])
        thread.runAndWait {
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
        return delays.withLock { $0 }
    }
}
