internal import Glibc
internal import Synchronization
internal import TestSupport

/// A kind of work that the soak gives to loops, continuously and together with all other kinds.
protocol Load: AnyObject, Sendable {
    /// The name that the report uses.
    var name: String { get }
    var tally: Tally { get }

    /// A description of the load, for the report.
    var remark: String { get }

    /// Starts the load.
    ///
    /// - Parameter seed: The seed of all random decisions.
    /// - Throws: The error of the system if no thread or descriptor is left.
    func start(seed: UInt64) throws

    /// Stops sending, waits until all work has arrived, and releases all objects.
    func stop()
}

extension SplitMix64 {
    /// Returns true at random, on average once in this number of calls.
    mutating func onceIn(_ times: Int) -> Bool { Int.random(in: 0..<times, using: &self) == 0 }
}

/// Threads that repeat a step until they are stopped.
final class Senders: Sendable {
    private let count: Int
    private let threads = Mutex<[BareThread]>([])
    private let isStopped = Atomic(false)

    init(_ count: Int) { self.count = count }

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - seed: The seed of all random decisions. Each thread derives its own.
    ///   - prepare: Called on each thread with its number. It returns the step that the thread repeats.
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
                    // The pauses let loops sleep, so that wake-ups occur, too.
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
