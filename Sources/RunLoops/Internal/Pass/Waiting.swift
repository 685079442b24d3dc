internal import CRunLoops
internal import Synchronization

/// The way in which a loop waits for work, and the measurements from which the loop chooses that way.
struct Waiting {
    var policy = RunLoop.WaitPolicy.adaptive {
        // A new policy takes effect immediately, without the pause of the old policy.
        didSet { pause = SpinPause() }
    }
    /// The longest gap between two readings of the clock, in nanoseconds; after a longer gap, the loop counts as preempted.
    ///
    /// Tests set another value.
    var longestGap = SpinPause.longestGap
    var pause = SpinPause()
    var budget = SpinBudget()
    /// The moment of the last wake-up, from which the gap to the next wake-up is measured.
    var lastWork = Moment(nanoseconds: 0)
    /// The moment at which a spinning loop polls its descriptors next.
    ///
    /// The moment is kept from one spin to the next. If each spin chose a new moment when it began, and messages always arrived
    /// soon, every spin would end before its first poll.
    var nextLook = Moment(nanoseconds: 0)
    /// The number of wake-ups until the loop next measures how long a wake-up takes.
    var untilMeasurement = 0

    /// The number of loops of the process that are in a run and not asleep.
    private static let awakeLoops = Atomic<Int>(0)

    /// The number of loops of the process that are in a run and not asleep.
    static var awakeLoopCount: Int { awakeLoops.load(ordering: .relaxed) }

    /// True if the loop is served by another main loop, and found no work in its last pass.
    ///
    /// If this is true, the loop has already called the observers of ``RunLoop/Activity/beforeWaiting``. So it needs no other pass
    /// for these observers.
    var guestIsIdle = false

    private var isAwake = false

    mutating func runBegins() {
        isAwake = true
        Waiting.awakeLoops.add(1, ordering: .relaxed)
    }

    mutating func runEnds() {
        isAwake = false
        Waiting.awakeLoops.subtract(1, ordering: .relaxed)
    }

    /// Stops counting the loop as awake, because its thread has ended, possibly during a run.
    mutating func threadEnds() { if isAwake { runEnds() } }

    /// Compares two successive readings of the clock in a spin, and begins a ``SpinPause`` if the loop was preempted in between.
    ///
    /// An adaptive loop begins no pause.
    ///
    /// - Returns: True if the loop was preempted.
    mutating func hasRead(_ now: Moment, after last: Moment) -> Bool {
        let gap = now.nanoseconds - last.nanoseconds
        if gap <= longestGap { return false }
        // An adaptive loop needs no pause, because its budget limits its short spins.
        if policy.kind != .adaptive { pause.preempted(for: gap, at: now) }
        return true
    }

    /// Returns the time for which the loop is to spin now, in nanoseconds; 0 if it is to sleep immediately.
    mutating func spinLength() -> Int64 {
        let wanted: Int64
        switch policy.kind {
        case .park: return 0
        case .spin(let length): wanted = length
        case .adaptive: wanted = budget.length
        }
        if wanted == 0 { return 0 }
        let processors = Int(runloops_usable_processors())
        if processors <= 1 { return 0 }
        let othersAwake = Waiting.awakeLoopCount - 1
        if policy.kind == .adaptive && othersAwake >= processors - 1 { return 0 }
        return wanted
    }
}
