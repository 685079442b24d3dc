internal import CThreads
internal import Synchronization

/// The way in which a loop waits, and its experience with waiting.
struct Waiting {
    var policy = RunLoop.WaitPolicy.adaptive {
        // A new policy is tried at once.
        didSet { pause = SpinPause() }
    }
    /// A longer time between two readings of a spin's clock says that the loop was preempted; a test has another one.
    var longestGap = SpinPause.longestGap
    var pause = SpinPause()
    var budget = SpinBudget()
    /// The moment at which the loop was last woken, for the gap between two wake-ups.
    var lastWork = Moment(nanoseconds: 0)
    /// The moment at which a loop that spins looks at its descriptors next.
    ///
    /// Kept from spin to spin: where messages always come soon, no spin lasts until its first look.
    var nextLook = Moment(nanoseconds: 0)
    /// Counts down to the next measurement of a wake-up.
    var untilMeasurement = 0

    /// Loops that are in a run and not asleep.
    private static let awakeLoops = Atomic<Int>(0)

    /// The number of loops of the process that are in a run and not asleep.
    static var awakeLoopCount: Int { awakeLoops.load(ordering: .relaxed) }

    /// True if a guest's last pass found no work, so that its observers and its idle work have been called.
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

    /// The loop is not awake any more, even if a run has not returned.
    mutating func threadEnds() { if isAwake { runEnds() } }

    /// The clock was read twice in a row while the loop spun.
    ///
    /// - Returns: True if the loop was preempted in between.
    mutating func hasRead(_ now: Moment, after last: Moment) -> Bool {
        let gap = now.nanoseconds - last.nanoseconds
        if gap <= longestGap { return false }
        // An adaptive loop spins for so short a time that its budget is enough to hold it back.
        if policy.kind != .adaptive { pause.preempted(for: gap, at: now) }
        return true
    }

    /// The time to spin now, in nanoseconds; 0 to sleep at once.
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
