internal import CThreads
internal import Synchronization

/// The way in which a loop waits, and the measurements that guide it.
struct Waiting {
    var policy = RunLoop.WaitPolicy.adaptive {
        // A new policy takes effect immediately, without the pause of the old policy.
        didSet { pause = SpinPause() }
    }
    /// The maximum time between two readings of the clock that does not count as a preemption; tests set another value.
    var longestGap = SpinPause.longestGap
    var pause = SpinPause()
    var budget = SpinBudget()
    /// The moment of the last wake-up, from which the gap to the next wake-up is measured.
    var lastWork = Moment(nanoseconds: 0)
    /// The moment at which a spinning loop polls its descriptors next.
    ///
    /// The moment is kept from spin to spin. Otherwise, if messages always arrived soon, no spin would last until its first poll.
    var nextLook = Moment(nanoseconds: 0)
    /// The number of wake-ups until the next measured wake-up.
    var untilMeasurement = 0

    /// The number of loops of the process that are in a run and not asleep.
    private static let awakeLoops = Atomic<Int>(0)

    /// The number of loops of the process that are in a run and not asleep.
    static var awakeLoopCount: Int { awakeLoops.load(ordering: .relaxed) }

    /// True if the last pass of a guest found no work, so that the observers of ``RunLoop/Activity/beforeWaiting`` have been
    /// called.
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

    /// Records that the loop is no longer awake, even if a run has not returned.
    mutating func threadEnds() { if isAwake { runEnds() } }

    /// Checks whether the loop was preempted between two successive readings of the clock in a spin.
    ///
    /// - Returns: True if the loop was preempted in between.
    mutating func hasRead(_ now: Moment, after last: Moment) -> Bool {
        let gap = now.nanoseconds - last.nanoseconds
        if gap <= longestGap { return false }
        // An adaptive loop needs no pause, because its budget limits its short spins.
        if policy.kind != .adaptive { pause.preempted(for: gap, at: now) }
        return true
    }

    /// The time to spin now, in nanoseconds; 0 to sleep immediately.
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
