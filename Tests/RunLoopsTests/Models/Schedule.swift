#if DEBUG
    import Glibc
    import TestExpectations
    import TestSupport

    @testable import RunLoops

    /// The delays of the threads of one round at their race points, which a seed determines.
    final class Schedule: Sendable {
        /// The two ways to delay threads.
        enum Kind {
            /// One thread runs at a time, and another one continues at some race points, which finds rare interleavings.
            case inTurn(Turns)
            /// All threads run, and each is sometimes delayed, which finds defects that need two processors.
            case atOnce
        }

        let seed: UInt64
        let kind: Kind

        init(seed: UInt64, threads: Int) {
            self.seed = seed
            kind = seed % 4 == 0 ? .atOnce : .inTurn(Turns(threads, seed: seed))
        }

        /// Has a thread follow the schedule during a call.
        func follow<Result>(as thread: Int, _ body: () throws -> Result) rethrows -> Result {
            let watcher = DelayedThread(self, thread)
            defer { if case .inTurn(let turns) = kind { turns.leave(thread) } }
            return try watcher.watch(body)
        }
    }

    /// A thread that follows a schedule.
    private final class DelayedThread: RacePointWatcher, @unchecked Sendable {
        private let kind: Schedule.Kind
        private let thread: Int
        private var random: SplitMix64
        /// The race point at which this thread is delayed most often, and longest.
        private let sore: RacePoint

        init(_ schedule: Schedule, _ thread: Int) {
            kind = schedule.kind
            self.thread = thread
            random = SplitMix64(seed: schedule.seed &* 31 &+ UInt64(thread))
            sore = RacePoint.allCases.randomElement(using: &random) ?? .writes
        }

        override func threadIs(at point: RacePoint) {
            switch kind {
            case .inTurn(let turns):
                // A spinning loop reaches this point very often, so one time in eight is enough.
                if point == .spins && Int.random(in: 0..<8, using: &random) > 0 { return }
                if point == .sleeps { turns.leave(thread) } else { turns.pass(thread) }
            case .atOnce: delay(point)
            }
        }

        private func delay(_ point: RacePoint) {
            switch Int.random(in: 0..<(point == .spins ? 512 : 64), using: &random) {
            case 0...1: sched_yield()
            case 2...4: spin(.random(in: 1...300, using: &random))
            case 5: usleep(useconds_t.random(in: 1...20, using: &random))
            case 6...31 where point == sore: spin(3_000)
            default: break
            }
        }

        private func spin(_ count: Int) { for _ in 0..<count { _ = random.next() } }
    }
#endif
