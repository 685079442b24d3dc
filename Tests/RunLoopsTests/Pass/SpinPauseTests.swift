import Testing

@testable import RunLoops

/// The pause between spins after a loop was preempted.
@Suite struct SpinPauseTests {
    private static let millisecond: Int64 = 1_000_000

    @Test func `a loop that was never preempted may spin`() {
        #expect(SpinPause().end <= Moment(nanoseconds: 0))
    }

    @Test func `a pause is a hundred times as long as the preemption, and begins when that is noticed`() {
        var pause = SpinPause()
        for gap in [SpinPause.longestGap + 1, 3 * SpinPauseTests.millisecond] {
            let now = pause.end.advanced(by: 5_000)
            pause.preempted(for: gap, at: now)
            #expect(pause.end == now.advanced(by: 100 * gap))
        }
    }

    @Test(arguments: [100_000_000, 3_600_000_000_000, .max] as [Int64])
    func `no pause is longer than ten seconds`(gap: Int64) {
        var pause = SpinPause()
        pause.preempted(for: gap, at: Moment(nanoseconds: 7))
        #expect(pause.end == Moment(nanoseconds: 7 + 10_000_000_000))
    }

    @Test(arguments: [1, 3, 12, 100] as [Int64])
    func `a loop that shares its processor loses about a hundredth of its time by spinning`(absence: Int64) {
        #expect(sharesOfMinutes(preemptedAfter: 3, for: absence).lost <= 0.01)
    }

    @Test func `a loop that is disturbed once a second spins for nearly all of its time`() {
        #expect(sharesOfMinutes(preemptedAfter: 990, for: 1).spun > 0.9)
    }

    /// Simulates ten minutes in which each spin is preempted.
    ///
    /// - Parameters:
    ///   - spin: The time after which a spin is preempted, in milliseconds.
    ///   - absence: The duration of each preemption, in milliseconds.
    /// - Returns: The shares of the time in which the loop has spun, and in which it was preempted.
    private func sharesOfMinutes(
        preemptedAfter spin: Int64, for absence: Int64
    ) -> (spun: Double, lost: Double) {
        let unit = SpinPauseTests.millisecond
        var pause = SpinPause()
        var now = Moment(nanoseconds: 0)
        var (spun, lost): (Int64, Int64) = (0, 0)
        while now.nanoseconds < 600_000 * unit {
            spun += spin
            lost += absence
            pause.preempted(for: absence * unit, at: now.advanced(by: (spin + absence) * unit))
            now = pause.end
        }
        let whole = Double(now.nanoseconds / unit)
        return (Double(spun) / whole, Double(lost) / whole)
    }
}
