internal import CLibEvent
internal import Glibc

/// A timer that ends a loop's sleep at a set moment.
///
/// The timer is a timerfd that uses the clock of ``Moment``. The loop polls the timerfd edge-triggered, and never reads it.
///
/// Setting the alarm makes a system call only if the new moment is earlier than the moment that the kernel's timer is set to, or if
/// the kernel's timer has fired. The kernel's timer is never moved to a later moment, not even if a loop's timer is cancelled
/// in time. One surplus wake-up costs less than a system call for each cancelled timer.
package struct Alarm: ~Copyable {
    /// The descriptor of the timer; -1 after the alarm has ended.
    package private(set) var descriptor: CInt

    /// The moment that the kernel's timer is set to; `never` if the timer has fired or was never set.
    private var armed = Moment.never

    package init() throws(SystemError) {
        descriptor = try systemCall("timerfd_create") {
            timerfd_create(CLOCK_BOOTTIME, CInt(TFD_CLOEXEC) | CInt(TFD_NONBLOCK))
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Closes the descriptor, because the loop's thread ends and no longer sleeps.
    mutating func end() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    /// Makes sure that a sleep ends at `moment` at the latest.
    ///
    /// - Returns: True if the call made a system call.
    package mutating func set(_ moment: Moment) -> Bool {
        if moment >= armed { return false }
        armed = moment
        // A value of zero would disarm the timer. A moment that has passed fires at once.
        if runloops_set_timer(descriptor, 0, max(moment.nanoseconds, 1)) != 0 {
            // The kernel always accepts an absolute time for a timerfd.
            fatalError("RunLoop: the descriptor that times a loop was closed by other code (errno \(errno))")
        }
        return true
    }

    /// Records that the kernel's timer has fired.
    package mutating func hasFired() { armed = .never }
}
