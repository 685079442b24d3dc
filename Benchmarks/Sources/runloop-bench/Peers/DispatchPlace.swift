internal import CThreadControl
internal import Synchronization

/// Keeps a serial queue's threads where they belong, as well as it can be done, and says how well.
///
/// A queue runs on whichever thread of Dispatch's pool is free. So blocks report their thread, every thread
/// that was ever seen is pinned, a block that finds itself elsewhere pins its thread, and is counted.
final class DispatchPlace: Sendable {
    private let threads = Mutex<Set<ThreadNumber>>([])
    private let processors = Mutex<[Int32]>([])
    /// The same, one bit each; processors above the sixty-third are not watched.
    private let allowed = Atomic<UInt64>(.max)
    private let blocks = Atomic<Int>(0)
    private let strays = Atomic<Int>(0)

    /// The threads seen so far.
    var numbers: [ThreadNumber] { Array(threads.withLock { $0 }) }

    /// Notes which processors blocks should run on from now on.
    func allow(_ processors: [Int32]) {
        let mask = processors.reduce(UInt64(0)) { $1 < 64 ? $0 | 1 << UInt64($1) : .max }
        self.processors.withLock { $0 = processors }
        allowed.store(mask, ordering: .relaxed)
    }

    /// Notes where a block runs: blocks of the queue call it.
    @inline(__always)
    func check() {
        blocks.add(1, ordering: .relaxed)
        let processor = bench_processor()
        if processor < 64, allowed.load(ordering: .relaxed) & 1 << UInt64(processor) == 0 {
            strays.add(1, ordering: .relaxed)
            // A thread that Dispatch started since: it inherited the processors of whoever needed it.
            notice()
            ThreadNumber.current.pin(to: processors.withLock { $0 })
        }
    }

    /// Notes the thread that a block runs on.
    func notice() {
        threads.withLock { _ = $0.insert(.current) }
    }

    /// The share of blocks that ran where they should not.
    var strayShare: Double {
        let blocks = blocks.load(ordering: .relaxed)
        return blocks == 0 ? 0 : Double(strays.load(ordering: .relaxed)) / Double(blocks)
    }
}
