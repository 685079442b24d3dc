import TestSupport
import Testing

@testable import RunLoops

/// The time for which a spin costs less than a sleep.
@Suite struct SpinBudgetTests {
    /// Makes a budget that allows a spin.
    private func spinning() -> SpinBudget {
        var budget = SpinBudget()
        budget.hit()
        return budget
    }

    @Test func `a new loop sleeps at once`() { #expect(SpinBudget().length == 0) }

    @Test func `a hit doubles the time, up to what a wake-up costs`() {
        var budget = SpinBudget()
        budget.hit()
        #expect(budget.length == SpinBudget.smallest)
        budget.hit()
        #expect(budget.length == SpinBudget.smallest * 2)
        for _ in 0..<20 { budget.hit() }
        #expect(budget.length == budget.wakeCost)
    }

    @Test func `a miss halves the time, and below the smallest there is none`() {
        var budget = spinning()
        budget.hit()
        budget.miss()
        #expect(budget.length == SpinBudget.smallest)
        budget.miss()
        #expect(budget.length == 0)
    }

    @Test func `a loop that sleeps tries again after a wake-up that came soon`() {
        var budget = SpinBudget()
        budget.slept(gap: budget.wakeCost * 2 + 1)
        #expect(budget.length == 0)
        budget.slept(gap: budget.wakeCost * 2)
        #expect(budget.length >= SpinBudget.smallest)
        #expect(budget.length <= budget.wakeCost)
    }

    @Test func `each attempt that fails takes twice as many soon wake-ups for the next`() {
        var budget = SpinBudget()
        var needed: [Int] = []
        for _ in 0..<12 {
            var count = 0
            while budget.length == 0 {
                budget.slept(gap: 0)
                count += 1
            }
            needed.append(count)
            while budget.length > 0 { budget.miss() }
        }
        #expect(needed == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 1_024])
    }

    @Test func `a late wake-up starts the count of soon ones anew`() {
        var budget = SpinBudget()
        budget.slept(gap: 0)
        while budget.length > 0 { budget.miss() }
        budget.slept(gap: 0)
        budget.slept(gap: 1_000_000)
        budget.slept(gap: 0)
        #expect(budget.length == 0)
        budget.slept(gap: 0)
        #expect(budget.length > 0)
    }

    @Test func `a hit makes the next attempt easier`() {
        var budget = SpinBudget()
        for _ in 0..<4 {
            while budget.length == 0 { budget.slept(gap: 0) }
            while budget.length > 0 { budget.miss() }
        }
        while budget.length == 0 { budget.slept(gap: 0) }
        for _ in 0..<4 { budget.hit() }
        while budget.length > 0 { budget.miss() }
        // The patience was 16, is 1 after four hits, and 2 after the miss.
        budget.slept(gap: 0)
        #expect(budget.length == 0)
        budget.slept(gap: 0)
        #expect(budget.length > 0)
    }

    @Test func `the cost of a wake-up follows what is measured, within bounds`() {
        var budget = SpinBudget()
        for _ in 0..<100 { budget.measured(1_000_000_000) }
        #expect(budget.wakeCost > SpinBudget.largestCost - 10)
        #expect(budget.wakeCost <= SpinBudget.largestCost)
        for _ in 0..<200 { budget.measured(-5) }
        #expect(budget.wakeCost >= SpinBudget.smallest)
        #expect(budget.wakeCost < SpinBudget.smallest + 10)
    }

    @Test(arguments: 0..<100 as Range<UInt64>) func `whatever happens, the time is none or within its bounds`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var budget = SpinBudget()
        for _ in 0..<500 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: budget.hit()
            case 1: budget.miss()
            case 2: budget.slept(gap: .random(in: 0..<100_000, using: &random))
            default: budget.measured(.random(in: -10..<200_000, using: &random))
            }
            let allowed = SpinBudget.smallest...SpinBudget.largestCost
            #expect(budget.length == 0 || allowed.contains(budget.length))
        }
    }
}
