#if DEBUG
    import CRunLoops
    import TestExpectations
    import TestSupport
    import Testing

    @testable import RunLoops

    /// A loop that loses its processor while it spins.
    @Suite(.enabled(if: runloops_usable_processors() > 1)) struct SpinPreemptionTests {
        /// Simulates a preemption: after a hundred checks of the mailbox, any time between two readings of the clock counts as one.
        private final class Preemption: RacePointWatcher, @unchecked Sendable {
            private let core: LoopCore
            private let whenPreempted: () -> Void
            private var looks = 0

            init(_ core: LoopCore, whenPreempted: @escaping () -> Void = {}) {
                self.core = core
                self.whenPreempted = whenPreempted
                core.waiting.policy = .spin(for: .seconds(3_600))
                core.waiting.longestGap = .max
            }

            override func threadIs(at point: RacePoint) {
                guard point == .spins else { return }
                looks += 1
                guard looks == 100 else { return }
                core.waiting.longestGap = 0
                pause(whenPreempted)
            }
        }

        @Test func `a spin that is preempted ends in sleep, and a pause begins`() throws {
            let thread = try RunLoopThread(name: "spinner")
            defer { thread.stop() }
            let (loop, isOver) = (thread.runLoop, Gate())
            let misses = try loop.performAndWait {
                loop.waitPolicy = .park
                return loop.statistics.spinMisses
            }
            loop.perform {
                let core = loop.core("test", "test")
                let preemption = Preemption(core)
                loop.add(Port<Int>(), forMode: .default) { _ in }
                let before = loop.statistics
                preemption.watch { #expect(loop.run(in: .default, until: .hang) == .stopped) }
                #expect(loop.statistics.spinMisses == before.spinMisses + 1)
                #expect(loop.statistics.spinHits == before.spinHits)
                #expect(loop.statistics.wakeUps == before.wakeUps + 1)
                #expect(core.waiting.pause.end > Moment(nanoseconds: 0))
                // During a pause, the loop waits without spinning.
                core.waiting.pause.preempted(for: .max, at: Moment.now().advanced(by: 3_600_000_000_000))
                #expect(loop.run(in: .default, until: .now + .milliseconds(2)) == .timedOut)
                #expect(loop.statistics.spinMisses == before.spinMisses + 1)
                // A new policy takes effect at once.
                loop.waitPolicy = .spin(for: .nanoseconds(1))
                #expect(core.waiting.pause.end == Moment(nanoseconds: 0))
                isOver.open()
            }
            waitUntil("the spin ends in sleep") {
                loop.handle.counters.spinMisses.value > misses && loop.handle.mailbox.acquireCurrent().isArmed
            }
            loop.stop()
            #expect(isOver.wait())
        }

        @Test func `work that came while a long spin was preempted is taken at once, and a pause begins`()
            throws
        {
            try onLoopThread { loop in
                let core = loop.core("test", "test")
                let preemption = Preemption(core) {
                    // From another thread, because the loop's own blocks do not use the mailbox.
                    do {
                        try BareThread { loop.perform { loop.stop() } }.join()
                    } catch { Issue.record(error) }
                }
                loop.add(Port<Int>(), forMode: .default) { _ in }
                let before = loop.statistics
                preemption.watch { #expect(loop.run(in: .default, until: .hang) == .stopped) }
                #expect(loop.statistics.spinHits == before.spinHits + 1)
                #expect(loop.statistics.wakeUps == before.wakeUps)
                #expect(core.waiting.pause.end > Moment(nanoseconds: 0))
            }
        }

        @Test func `an adaptive loop that is preempted keeps to its budget, and makes no pause`() throws {
            try onLoopThread { loop in
                let core = loop.core("test", "test")
                core.waiting.longestGap = 0
                loop.add(Port<Int>(), forMode: .default) { _ in }
                for _ in 0..<50 { loop.run(in: .default, until: .now + .microseconds(100)) }
                #expect(core.waiting.pause.end == Moment(nanoseconds: 0))
            }
        }
    }
#endif
