/// The time for which an adaptive loop spins before it sleeps.
///
/// A spin that finds work doubles the time, up to the measured cost of a wake-up. Spinning for that long costs at most twice as
/// much as the best choice in hindsight. A spin that finds no work halves the time, and a time below ``smallest`` becomes zero.
///
/// While the time is zero, the loop sleeps without a spin. If a wake-up follows the previous one very soon, a spin would have found
/// the work. The loop counts the successive wake-ups of this kind, and tries a spin again when their number reaches a threshold.
/// Each failed try doubles the threshold. So if the sender cannot run while the loop spins, tries become rare.
struct SpinBudget {
    static let smallest: Int64 = 2_000
    static let largestCost: Int64 = 50_000
    private static let mostPatience = 1_024

    /// The length of the next spin in nanoseconds; 0 for no spin.
    private(set) var length: Int64 = 0
    /// The moving average of the time that a wake-up takes, in nanoseconds.
    private(set) var wakeCost: Int64 = 10_000
    private var soonWakes = 0
    private var patience = 1

    /// Records a spin that found work.
    mutating func hit() {
        length = min(max(length * 2, SpinBudget.smallest), wakeCost)
        patience = max(1, patience / 2)
    }

    /// Records a spin that found no work.
    mutating func miss() {
        length /= 2
        if length < SpinBudget.smallest {
            length = 0
            soonWakes = 0
            patience = min(patience * 2, SpinBudget.mostPatience)
        }
    }

    /// Records a wake-up from sleep.
    ///
    /// - Parameter gap: The time since the previous wake-up, in nanoseconds.
    mutating func slept(gap: Int64) {
        if length > 0 { return }
        soonWakes = gap <= wakeCost * 2 ? soonWakes + 1 : 0
        if soonWakes >= patience {
            soonWakes = 0
            length = min(max(SpinBudget.smallest, wakeCost / 2), wakeCost)
        }
    }

    /// Records the time that a wake-up took, from the sender's write to the loop's first instruction, in nanoseconds.
    mutating func measured(_ cost: Int64) {
        let bounded = min(max(cost, SpinBudget.smallest), SpinBudget.largestCost)
        wakeCost += (bounded - wakeCost) / 8
    }
}
