internal import RunLoops
internal import Synchronization
internal import TestSupport

/// A hundred thousand timers in one loop.
///
/// Each timer that fires is replaced by a new one, and moves or replaces another timer.
final class TimerLoad: Load {
    let name = "timers"
    let remark = "100,000 in one loop, never early; each fire moves or replaces another one"
    let tally = Tally()
    private let thread: RunLoopThread
    private static let count = 100_000

    /// The timers, which only the loop's thread uses.
    private final class Timers {
        private let tally: Tally
        private var random: SplitMix64
        private var all: [Timer] = []
        /// For each timer, true if it is set and has not fired.
        private var planned: [Bool] = []

        init(_ tally: Tally, seed: UInt64) {
            self.tally = tally
            random = SplitMix64(seed: seed)
            for index in 0..<count {
                planned.append(true)
                all.append(make(index))
            }
        }

        private func make(_ index: Int) -> Timer {
            tally.sendOne()
            planned[index] = true
            let delay = Duration.microseconds(Int.random(in: 1_000...20_000_000, using: &random))
            let timer = Timer(timeInterval: delay, repeats: false) { [unowned self] in fired($0, index) }
            if random.onceIn(8) { timer.tolerance = .milliseconds(5) }
            RunLoop.current.add(timer, forMode: .default)
            return timer
        }

        private func fired(_ timer: Timer, _ index: Int) {
            tally.receiveOne()
            if timer !== all[index] { tally.fault("an invalidated timer fired") }
            if !planned[index] { tally.twice.add(1, ordering: .relaxed) }
            if ContinuousClock.now < timer.fireDate { tally.fault("a timer fired early") }
            planned[index] = false
            all[index] = make(index)
            let other = Int.random(in: 0..<count, using: &random)
            guard other != index else { return }
            if random.onceIn(2) {
                all[other].fireDate = .now + .microseconds(Int.random(in: 0...20_000_000, using: &random))
            } else {
                all[other].invalidate()
                tally.sent.subtract(1, ordering: .relaxed)
                all[other] = make(other)
            }
        }

        func end() {
            for timer in all { timer.invalidate() }
            tally.sent.subtract(count, ordering: .relaxed)
        }
    }

    init() throws { thread = try RunLoopThread(name: "soak timers") }

    func start(seed: UInt64) throws {
        try thread.runLoop.performAndWait { [tally] in
            let timers = Timers(tally, seed: seed)
            RunLoop.current.addEndHandler { timers.end() }
        }
    }

    func stop() {
        thread.stop()
        thread.join()
    }
}
