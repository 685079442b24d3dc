#if DEBUG
    import Glibc
    import TestExpectations
    import TestSupport
    import Testing

    @testable import RunLoops

    /// Many short rounds of a loop and its senders, whose threads are delayed at their race points as a seed determines.
    ///
    /// The environment variable RUNLOOPS_STRESS_SCHEDULES sets the number of rounds. RUNLOOPS_SCHEDULE_SEED repeats the round of
    /// one seed that many times.
    @Suite struct ScheduleTests {
        // Guarantees: If a block or message is given to a loop that is about to sleep, the loop does not sleep, or it is woken.
        @Test func `in any schedule no message is lost, doubled or overtaken, and no thread hangs`() throws {
            // Fewer rounds with a sanitizer, which makes them slower.
            let count = number("RUNLOOPS_STRESS_SCHEDULES") ?? (Faults.areSlow ? 500 : 3_000)
            let replayed = number("RUNLOOPS_SCHEDULE_SEED").map { UInt64($0) }
            let next = Shared()
            let failed = Log<String>()
            // The threads of a round mostly wait, so several rounds run at once.
            let crews = try (0..<4).map { _ in try Crew() }
            let threads = try crews.map { crew in
                try BareThread {
                    while failed.entries.isEmpty {
                        let index = next.increment()
                        if index >= count { return }
                        let seed = replayed ?? UInt64(index)
                        let failures = crew.play(ScheduledRound(seed: seed))
                        if failures.isEmpty { continue }
                        complain("RUNLOOPS_SCHEDULE_SEED=\(seed)")
                        failed.add("seed \(seed), round \(index): \(failures.joined(separator: "; "))")
                    }
                }
            }
            for thread in threads { thread.join() }
            for crew in crews { crew.dismiss() }
            for failure in failed.entries { Issue.record("\(failure)") }
        }

        private func number(_ name: String) -> Int? {
            // Safe: the environment does not change while tests run.
            unsafe getenv(name).flatMap { unsafe Int(String(cString: $0)) }
        }
    }

    /// The threads of the rounds, which run one round after another.
    ///
    /// There are two sets of threads: one on a single processor, where a switch between threads is cheap, for schedules in which
    /// one thread runs at a time, and one on all processors.
    private final class Crew: Sendable {
        private static let size = 5
        private let confined: [Player]
        private let free: [Player]

        init() throws {
            let first = try #require(Int(usableProcessors().prefix { $0.isNumber }))
            confined = try (0..<Crew.size).map { try Player(number: $0, processors: [first]) }
            free = try (0..<Crew.size).map { try Player(number: $0, processors: nil) }
        }

        func dismiss() { for player in confined + free { player.dismiss() } }

        /// Runs a round.
        ///
        /// - Returns: The failures.
        func play(_ round: ScheduledRound) -> [String] {
            let schedule = Schedule(seed: round.seed, threads: Crew.size)
            let players = if case .inTurn = schedule.kind { confined } else { free }
            let stage = Guarded<ScheduledRound.Stage?>(nil)
            let isReady = Gate()
            players[0].perform {
                // The name of the thread makes the report of a crash include the seed.
                nameThread("seed \(round.seed)")
                let prepared = round.prepare()
                stage.withLock { $0 = prepared }
                isReady.open()
                schedule.follow(as: 0) { round.run(prepared) }
                stage.withLock { $0 = nil }
            }
            guard isReady.wait(), let prepared = stage.withLock({ $0 }) else { return ["no loop"] }
            for sender in 0..<round.senderCount {
                players[sender + 1].perform {
                    schedule.follow(as: sender + 1) { round.send(as: sender, to: prepared) }
                }
            }
            for player in players[...round.senderCount] where !player.wait() { return ["a thread hangs"] }
            return round.failures()
        }
    }

    /// A thread of a crew.
    private final class Player: Sendable {
        private let job = Guarded<(@Sendable () -> Void)?>(nil)
        private let start = Turnstile()
        private let end = Turnstile()

        init(number: Int, processors: Set<Int>?) throws {
            try RunLoopThread.detach(name: "player \(number)", processors: processors) { _ in self.run() }
        }

        private func run() {
            // Each round makes a new loop on this thread.
            RunLoop.endCurrent()
            while start.pass() {
                guard let next = job.withLock({ $0 }) else { return }
                next()
                job.withLock { $0 = nil }
                end.open()
            }
        }

        func perform(_ body: @escaping @Sendable () -> Void) {
            job.withLock { $0 = body }
            start.open()
        }

        func wait() -> Bool { end.pass(seconds: 120) }

        func dismiss() {
            job.withLock { $0 = nil }
            start.open()
        }
    }

    /// Names the calling thread.
    private func nameThread(_ name: String) {
        // Safe, both: the kernel reads strings of this process.
        let file = unsafe open("/proc/thread-self/comm", O_WRONLY)
        _ = unsafe write(file, name, name.utf8.count)
        close(file)
    }
#endif
