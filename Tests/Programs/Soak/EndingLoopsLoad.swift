internal import RunLoops
internal import Synchronization

/// Two threads make loops, perform blocks on them, and end them before all blocks have run.
final class EndingLoopsLoad: Load {
    let name = "loops ended"
    let remark = "loops end before all their blocks have run; no block outlives its loop"
    let tally = Tally()
    private let senders = Senders(2)

    /// An object that a block captures, and that must be released with the block, run or not.
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
        try senders.start(seed: seed) { [tally] _ in
            { random in
                let thread: RunLoopThread
                do { thread = try RunLoopThread(name: "soak short") } catch {
                    return tally.fault("a loop cannot be made: \(error)")
                }
                let (alive, ran) = (Counted(), Counted())
                let loop = thread.runLoop
                // At least one block must run.
                tally.sendOne()
                do { try loop.performAndWait { tally.receiveOne() } } catch {
                    tally.fault("a new loop does not perform a block: \(error)")
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
                // At this point, only this scope holds `later`.
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
