internal import RunLoops
internal import Synchronization
internal import TestSupport

/// Four threads perform blocks on two loops: one by one, several at once, in a mode, waiting for the result, and after a delay.
final class PerformLoad: Load {
    /// The blocks of each thread, as one loop runs them.
    private final class Sequences: Sendable {
        private let all = Mutex((0..<4).map { _ in SenderSequence() })

        func receive(_ number: Int, from sender: Int, for tally: Tally) {
            all.withLock { $0[sender].receive(number, for: tally) }
        }
    }

    let name = "performs"
    let remark = "4 threads, 2 loops; every block in order; half of the delayed ones cancelled"
    let tally = Tally()
    private let senders = Senders(4)
    private let threads: [RunLoopThread]

    init() throws { threads = try (0..<2).map { try RunLoopThread(name: "soak perform \($0)") } }

    func start(seed: UInt64) throws {
        let sequences = threads.map { _ in Sequences() }
        try senders.start(seed: seed) { [threads, tally] sender in
            var numbers = [0, 0]
            return { random in
                let target = Int.random(in: 0..<2, using: &random)
                let (loop, sequences) = (threads[target].runLoop, sequences[target])
                /// Returns the next numbered block.
                func block() -> @Sendable () -> Void {
                    tally.sendOne()
                    let number = numbers[target]
                    numbers[target] += 1
                    return { sequences.receive(number, from: sender, for: tally) }
                }
                switch Int.random(in: 0..<8, using: &random) {
                case 0..<4: for _ in 0..<64 { loop.perform(block()) }
                case 4: loop.perform(contentsOf: (0..<32).map { _ in block() })
                case 5: loop.perform(inModes: [.default], block())
                case 6: Self.wait(for: loop, block(), tally)
                default: Self.delay(on: loop, &random, tally)
                }
                // Limits the blocks in flight, because a loop keeps any number.
                if random.onceIn(4) { Self.wait(for: loop, {}, tally) }
            }
        }
    }

    private static func wait(for loop: RunLoop, _ block: @escaping @Sendable () -> Void, _ tally: Tally) {
        do {
            let answer = try loop.performAndWait(before: .now + .seconds(60)) {
                block()
                return 42
            }
            if answer != 42 { tally.fault("a wait returned the result of another block") }
        } catch { tally.fault("a wait for a block failed: \(error)") }
    }

    /// Performs a block after a delay, and cancels half of these blocks.
    private static func delay(on loop: RunLoop, _ random: inout SplitMix64, _ tally: Tally) {
        let delay = Duration.microseconds(Int.random(in: 0...3_000, using: &random))
        let date = ContinuousClock.now + delay
        let (runs, isCancelled) = (Latch(), Latch())
        tally.sendOne()
        let delayed = loop.perform(after: delay) {
            if ContinuousClock.now < date { tally.fault("a delayed block ran early") }
            if isCancelled.isSet { tally.fault("a cancelled block ran") }
            if runs.set() { tally.twice.add(1, ordering: .relaxed) }
            tally.receiveOne()
        }
        guard random.onceIn(2), delayed.cancel() == .cancelled else { return }
        isCancelled.set()
        if runs.isSet { tally.fault("a block was cancelled after it had run") }
        tally.sent.subtract(1, ordering: .relaxed)
    }

    func stop() {
        senders.stop()
        tally.settle()
        for thread in threads {
            thread.stop()
            thread.join()
        }
    }
}
