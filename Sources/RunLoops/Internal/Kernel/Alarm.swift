internal import CLibEvent
internal import Glibc

/// Ends a loop's sleep at a moment: a timerfd on the clock of ``Moment``, polled edge-triggered and never read.
///
/// The kernel is told only when it must be: of a moment earlier than the one it knows, or of the next one
/// when that has passed. A moment that moves later is left alone: one surplus wake-up costs less than a
/// system call for every timer that is cancelled in time.
package struct Alarm: ~Copyable {
    /// -1 once it has ended.
    package private(set) var descriptor: CInt

    /// The moment that the kernel knows; `never` if it has passed, or none was set.
    private var armed = Moment.never

    package init() throws(SystemError) {
        descriptor = try systemCall("timerfd_create") {
            timerfd_create(CLOCK_BOOTTIME, CInt(TFD_CLOEXEC) | CInt(TFD_NONBLOCK))
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Closes the descriptor: the loop's thread ends, and waits no more.
    mutating func end() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    /// Makes sure that a sleep ends at `moment`, or before.
    ///
    /// - Returns: Whether it took a system call.
    package mutating func set(_ moment: Moment) -> Bool {
        if moment >= armed { return false }
        armed = moment
        var setting = itimerspec()
        // A value of zero would disarm it; a moment that has passed fires at once.
        let nanoseconds = max(moment.nanoseconds, 1)
        setting.it_value.tv_sec = time_t(nanoseconds / 1_000_000_000)
        setting.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
        // Safe: the kernel only reads our own value.
        if unsafe timerfd_settime(descriptor, CInt(TFD_TIMER_ABSTIME), &setting, nil) != 0 {
            // An absolute time of our own timerfd is always accepted.
            fatalError("RunLoop: the descriptor that times a loop was closed by other code (errno \(errno))")
        }
        return true
    }

    /// Says that the kernel has announced the moment.
    package mutating func hasFired() { armed = .never }
}
