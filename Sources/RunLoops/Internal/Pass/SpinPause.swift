/// The pause during which a loop does not spin, because it was preempted in a spin.
///
/// A spin reads the clock all the time. If two readings lie far apart, the loop was preempted in between, because another thread
/// needed the processor. A loop that spins uses up its own share of the processor's time, and then has to wait for a processor when
/// it has work. A loop that sleeps instead gets a processor soon after it is woken.
///
/// A pause is a hundred times as long as the preemption. So a loop that is preempted again and again loses about a hundredth of its
/// time by spinning, however long the kernel runs other threads.
struct SpinPause {
    /// The longest gap between two readings of the clock, in nanoseconds; after a longer gap, the loop counts as preempted.
    ///
    /// This is about a hundred times the usual time between two readings. It is a fraction of the time for which the kernel gives a
    /// processor to another thread.
    static let longestGap: Int64 = 200_000
    /// The maximum pause, in nanoseconds.
    ///
    /// Two readings of the clock also lie far apart if the whole process was halted in between. Such a halt can last for hours, and
    /// a pause that is a hundred times as long would last for days.
    static let longest: Int64 = 10_000_000_000
    private static let pausePerGap: Int64 = 100

    /// The moment at which the pause ends; before this moment, the loop does not spin.
    private(set) var end = Moment(nanoseconds: 0)

    /// Records that the loop was preempted while it spun.
    ///
    /// - Parameters:
    ///   - gap: The length of the preemption, in nanoseconds.
    ///   - now: The moment at which the loop has detected the preemption.
    mutating func preempted(for gap: Int64, at now: Moment) {
        end = now.advanced(by: min(gap, SpinPause.longest / SpinPause.pausePerGap) * SpinPause.pausePerGap)
    }
}
