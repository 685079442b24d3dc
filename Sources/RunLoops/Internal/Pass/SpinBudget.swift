/// How long an adaptive loop spins before it sleeps.
///
/// A hit doubles the time and a miss halves it, from ``smallest`` up to what a wake-up has been seen to cost: spinning
/// as long as a wake-up costs is at most twice as dear as knowing the future. At zero the loop sleeps at
/// once, until enough wake-ups in a row came so soon that spinning would have caught them. Each attempt that
/// fails doubles how many it takes: where the sender cannot run while we spin, attempts become rare.
struct SpinBudget {
    static let smallest: Int64 = 2_000
    static let largestCost: Int64 = 50_000
    private static let mostPatience = 1_024

    /// Nanoseconds; 0 for not at all.
    private(set) var length: Int64 = 0
    /// What a wake-up costs, smoothed.
    private(set) var wakeCost: Int64 = 10_000
    private var soonWakes = 0
    private var patience = 1

    /// A spin took work.
    mutating func hit() {
        length = min(max(length * 2, SpinBudget.smallest), wakeCost)
        patience = max(1, patience / 2)
    }

    /// A spin ended in sleep.
    mutating func miss() {
        length /= 2
        if length < SpinBudget.smallest {
            length = 0
            soonWakes = 0
            patience = min(patience * 2, SpinBudget.mostPatience)
        }
    }

    /// The loop was woken from its sleep, so long after it was woken before.
    mutating func slept(gap: Int64) {
        if length > 0 { return }
        soonWakes = gap <= wakeCost * 2 ? soonWakes + 1 : 0
        if soonWakes >= patience {
            soonWakes = 0
            length = min(max(SpinBudget.smallest, wakeCost / 2), wakeCost)
        }
    }

    /// A wake-up took this long from the sender's write to the loop's first instruction.
    mutating func measured(_ cost: Int64) {
        let bounded = min(max(cost, SpinBudget.smallest), SpinBudget.largestCost)
        wakeCost += (bounded - wakeCost) / 8
    }
}
