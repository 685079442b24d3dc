internal import Glibc
internal import Synchronization
internal import TestSupport

/// One kind of work that a soak puts on loops, without pause and together with all other kinds.
protocol Load: AnyObject, Sendable {
    /// The name that the report uses.
    var name: String { get }
    var tally: Tally { get }

    /// The parts of the load, for the report.
    var remark: String { get }

    /// Starts the load.
    ///
    /// - Parameter seed: The seed of all random decisions.
    /// - Throws: The refusal of the system if it has no thread or descriptor left.
    func start(seed: UInt64) throws

    /// Sends no more work, waits until all of it has arrived, and releases everything.
    func stop()
}

extension SplitMix64 {
    /// Returns true once in so many calls, at random.
    mutating func onceIn(_ times: Int) -> Bool { Int.random(in: 0..<times, using: &self) == 0 }
}

/// Threads that send work until they are stopped.
final class Senders: Sendable {
    private let count: Int
    private let threads = Mutex<[BareThread]>([])
    private let isStopped = Atomic(false)

    init(_ count: Int) { self.count = count }

    /// Starts the threads, each of which repeats one step.
    ///
    /// - Parameters:
    ///   - seed: The seed of all random decisions; each thread derives its own.
    ///   - prepare: Called on each thread with its number; returns the step that the thread repeats.
    /// - Throws: `SystemError` if the system has no thread left.
    func start(
        seed: UInt64, _ prepare: @escaping @Sendable (Int) -> (inout SplitMix64) -> Void
    ) throws {
        for index in 0..<count {
            let thread = try BareThread { [self] in
                var random = SplitMix64(seed: seed &+ UInt64(index) &* 7_919)
                let step = prepare(index)
                while !isStopped.load(ordering: .relaxed) {
                    step(&random)
                    // Pauses let loops fall asleep, so that they are woken, too.
                    if random.onceIn(64) { usleep(1_000 * UInt32.random(in: 1...3, using: &random)) }
                }
            }
            threads.withLock { $0.append(thread) }
        }
    }

    /// Stops the threads, and waits until all have ended.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        for thread in threads.withLock({ $0 }) { thread.join() }
    }
}
