internal import RunLoops
internal import Synchronization

/// Loops that are made and ended: two threads make them, give them work, and end them before it is done.
final class LoopSoak: SoakLoad {
    let name = "loops ended"
    let remark = "made, given blocks, ended before all have run; no block is left over"
    let tally = SoakTally()
    private let senders = SoakSenders(2)

    /// What a block holds: it goes with the block, run or not.
    private final class Held: Sendable {
        private let alive: Counted
        init(_ alive: Counted) {
            self.alive = alive
            alive.value.add(1, ordering: .relaxed)
        }
        deinit { alive.value.subtract(1, ordering: .relaxed) }
    }

    private final class Counted: Sendable {
        let value = Atomic<Int>(0)
    }

    func start(seed: UInt64) throws {
        senders.start(seed: seed) { [tally] _ in
            { random in
                let thread: RunLoopThread
                do { thread = try RunLoopThread(name: "soak short") } catch {
                    return tally.fault("a loop cannot be made: \(error)")
                }
                let (alive, ran) = (Counted(), Counted())
                let loop = thread.runLoop
                // One block at least has run.
                tally.sendOne()
                do { try loop.performAndWait { tally.receiveOne() } } catch {
                    tally.fault("a new loop serves nobody: \(error)")
                }
                for _ in 0..<Int.random(in: 0...200, using: &random) {
                    let held = Held(alive)
                    loop.perform {
                        withExtendedLifetime(held) {}
                        ran.value.add(1, ordering: .relaxed)
                    }
                }
                let later = Held(alive)
                loop.perform(after: .seconds(100)) { withExtendedLifetime(later) {} }
                thread.stop()
                if !thread.join(before: .now + .seconds(60)) { tally.fault("a thread does not end") }
                let ranBefore = ran.value.load(ordering: .acquiring)
                if loop.perform({}) { tally.fault("a loop that has ended took a block") }
                if ran.value.load(ordering: .acquiring) != ranBefore {
                    tally.fault("a block ran after its loop's end")
                }
                withExtendedLifetime(later) {}
                // `later` is held here still, and by nobody else.
                if alive.value.load(ordering: .acquiring) != 1 {
                    tally.fault("\(alive.value.load(ordering: .acquiring) - 1) blocks outlive their loop")
                }
            }
        }
    }

    func stop() {
        senders.stop()
        tally.settle()
    }
}
