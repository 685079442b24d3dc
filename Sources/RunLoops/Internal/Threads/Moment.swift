internal import CLibEvent
internal import Glibc

/// A point in time, in nanoseconds of `CLOCK_BOOTTIME`, the clock that every wait in this library uses.
///
/// `ContinuousClock` reads the same clock on Linux, and the kernel timer uses it, so an instant means the same to the caller, to
/// the loop and to the kernel. A moment takes eight bytes, and comparing two moments compares two integers. A
/// `ContinuousClock.Instant` takes sixteen bytes, and comparing two instants takes a 128-bit subtraction.
@usableFromInline
package struct Moment: Comparable, Hashable, Sendable {
    @usableFromInline package var nanoseconds: Int64

    /// A moment that is later than every other moment, and never comes.
    ///
    /// The property is computed, because a stored constant is initialized at its first use. If one thread initialized the constant
    /// while another thread forked, the child would hang when it reads the constant.
    @inlinable
    package static var never: Moment { Moment(nanoseconds: .max) }

    @inlinable
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    @inlinable
    package static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Reads the clock.
    ///
    /// In a simulation, this is the simulation's clock.
    package static func now() -> Moment {
        if ThreadDriver.isPresent { return driven() }
        // The call cannot fail for this clock, which exists since Linux 2.6.39.
        return Moment(nanoseconds: runloops_clock(CLOCK_BOOTTIME))
    }

    /// Returns the time of the simulation, which the calling thread's ``ThreadDriver`` provides.
    ///
    /// The method is not inlined: outside of simulations, its code would only make its callers larger.
    @inline(never)
    private static func driven() -> Moment {
        guard let driver = ThreadDriver.current else { preconditionFailure("the thread has a driver") }
        return Moment(driver.now())
    }

    /// The nanoseconds from now until this moment; 0 if the moment has passed, `Int64.max` for `never`.
    package var nanosecondsLeft: Int64 {
        if self == .never { return .max }
        let (left, overflow) = nanoseconds.subtractingReportingOverflow(Moment.now().nanoseconds)
        return overflow ? 0 : max(left, 0)
    }

    /// Returns the moment that is a number of nanoseconds later than this one.
    ///
    /// If the result is too late to be represented, it becomes `never`. If it is too early, it becomes the earliest moment.
    package func advanced(by nanoseconds: Int64) -> Moment {
        let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        if overflow { return nanoseconds > 0 ? .never : Moment(nanoseconds: .min) }
        return Moment(nanoseconds: sum)
    }
}

/// The instant at which `CLOCK_BOOTTIME` was zero.
///
/// The property is computed, because a stored one could make a forked child hang; see ``Moment/never``.
private var epoch: ContinuousClock.Instant { ContinuousClock().systemEpoch }

extension Moment {
    /// Makes the moment of an instant, rounded up to a whole nanosecond, so that a timer is never early.
    @usableFromInline
    package init(_ instant: ContinuousClock.Instant) {
        self.init(nanoseconds: epoch.duration(to: instant).nanosecondsRoundedUp)
    }

    /// Makes the moment of a deadline; `never` if there is none.
    ///
    /// It is inlinable, so that a call without a deadline makes no instant: the library does not know the size of one, and would
    /// look it up each time.
    @inlinable
    package init(ofDeadline deadline: ContinuousClock.Instant?) {
        if let deadline { self.init(deadline) } else { self = .never }
    }

    /// The moment as an instant; `never` is ``ContinuousClock/Instant/distantFuture``.
    package var instant: ContinuousClock.Instant {
        self == .never ? .distantFuture : epoch.advanced(by: .nanoseconds(nanoseconds))
    }
}

extension Duration {
    /// The length in nanoseconds, rounded up, and clamped to the range of `Int64`.
    package var nanosecondsRoundedUp: Int64 {
        // This does not use `components`, which traps if the seconds exceed the range of `Int64`. Division truncates the fraction,
        // so only a positive fraction is rounded up.
        let (whole, fraction) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Int64(clamping: fraction > 0 ? whole + 1 : whole)
    }
}
