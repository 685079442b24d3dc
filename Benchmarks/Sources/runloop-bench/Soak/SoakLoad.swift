internal import Dispatch
internal import Synchronization

/// One kind of work that a soak puts on loops, together with all others and without pause.
protocol SoakLoad: AnyObject, Sendable {
    /// What it is, for the report.
    var name: String { get }
    var tally: SoakTally { get }

    /// What it is made of, for the report.
    var remark: String { get }

    /// Begins.
    ///
    /// - Parameter seed: Decides what is random.
    /// - Throws: What the system said when it gave no thread or no descriptor.
    func start(seed: UInt64) throws

    /// Gives no more work, waits until all has come, and lets go of everything.
    func stop()
}

/// A random generator that a seed determines.
struct SoakRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Whether something happens that happens once in so many times.
    mutating func onceIn(_ times: Int) -> Bool { Int.random(in: 0..<times, using: &self) == 0 }
}

/// Threads that give work until they are told to stop.
final class SoakSenders: Sendable {
    private let threads: [WorkerThread]
    private let isOver = Atomic(false)

    init(_ count: Int) { threads = (0..<count).map { _ in WorkerThread() } }

    /// Has each thread do something again and again.
    ///
    /// - Parameters:
    ///   - seed: Decides what is random, for each thread in another way.
    ///   - prepare: Called on each thread with its number; what it returns is called again and again.
    func start(
        seed: UInt64, _ prepare: @escaping @Sendable (Int) -> (inout SoakRandom) -> Void
    ) {
        for (index, thread) in threads.enumerated() {
            thread.run { [self] in
                var random = SoakRandom(seed: seed &+ UInt64(index) &* 7_919)
                let step = prepare(index)
                while !isOver.load(ordering: .relaxed) {
                    step(&random)
                    // So that loops sleep, too, and are woken.
                    if random.onceIn(64) { rest(Int.random(in: 1...3, using: &random)) }
                }
            }
        }
    }

    private func rest(_ milliseconds: Int) {
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(milliseconds))
    }

    /// Waits until all have stopped.
    func stop() {
        isOver.store(true, ordering: .relaxed)
        for thread in threads { thread.wait() }
        for thread in threads { thread.end() }
    }
}
