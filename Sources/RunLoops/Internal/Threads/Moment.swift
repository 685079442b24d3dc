internal import CLibEvent
internal import Glibc

/// A point in time on the clock of every wait here: nanoseconds of `CLOCK_BOOTTIME`.
///
/// `ContinuousClock` reads the same clock on Linux, and the kernel timer is set on it, so an instant means
/// the same to the caller, to the loop and to the kernel. Eight bytes and plain comparisons, where
/// `ContinuousClock.Instant` takes sixteen and a 128-bit subtraction.
package struct Moment: Comparable, Hashable, Sendable {
    package var nanoseconds: Int64

    /// Later than every other moment; nothing is ever due then.
    ///
    /// Computed: a constant that is made when it is first read would hang a forked child, if another thread of its parent was
    /// just making it.
    package static var never: Moment { Moment(nanoseconds: .max) }

    package static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Reads the clock, which is a test's own on threads that a test drives.
    package static func now() -> Moment {
        if ThreadDriver.isPresent { return driven() }
        var time = timespec()
        // Safe: the kernel fills our own value; it cannot fail for a clock that exists since Linux 2.6.39.
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The time of the calling thread's driver.
    ///
    /// Out of line: what a test needs must not be in the way of all others.
    @inline(never)
    private static func driven() -> Moment {
        guard let driver = ThreadDriver.current else { preconditionFailure("the thread has a driver") }
        return Moment(driver.now())
    }

    /// The nanoseconds from now until this moment; 0 if it has passed, `Int64.max` if it never comes.
    package var nanosecondsLeft: Int64 {
        if self == .never { return .max }
        let (left, overflow) = nanoseconds.subtractingReportingOverflow(Moment.now().nanoseconds)
        return overflow ? 0 : max(left, 0)
    }

    /// This much later, or `never` where that cannot be counted.
    package func advanced(by nanoseconds: Int64) -> Moment {
        let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        if overflow { return nanoseconds > 0 ? .never : Moment(nanoseconds: .min) }
        return Moment(nanoseconds: sum)
    }
}

/// The zero of `CLOCK_BOOTTIME` as an instant.
///
/// Computed, as ``Moment/never``.
private var epoch: ContinuousClock.Instant { ContinuousClock().systemEpoch }

extension Moment {
    /// The first whole nanosecond that is not before `instant`: what is set to it is never early.
    package init(_ instant: ContinuousClock.Instant) {
        self.init(nanoseconds: epoch.duration(to: instant).nanosecondsRoundedUp)
    }

    /// The moment as an instant; `never` is ``ContinuousClock/Instant/distantFuture``.
    package var instant: ContinuousClock.Instant {
        self == .never ? .distantFuture : epoch.advanced(by: .nanoseconds(nanoseconds))
    }
}

extension Duration {
    /// The length in nanoseconds, rounded away from the past, and held within what an `Int64` can count.
    package var nanosecondsRoundedUp: Int64 {
        // Not `components`, which traps where the seconds are more than an `Int64` can count. Division drops the fraction, so
        // only a positive one rounds.
        let (whole, fraction) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Int64(clamping: fraction > 0 ? whole + 1 : whole)
    }
}
