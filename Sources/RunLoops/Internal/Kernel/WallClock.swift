internal import CLibEvent
internal import Glibc

/// The clock of dates, `CLOCK_REALTIME`, which can be set.
enum WallClock {
    /// The time since 1970; in a simulation, the simulation's.
    static var now: Duration {
        if let driver = ThreadDriver.current { return driver.timeSince1970() }
        return .nanoseconds(runloops_clock(CLOCK_REALTIME))
    }
}

/// A descriptor that is readable after the wall clock was set.
///
/// It is a timerfd that never expires, and that the kernel cancels if the clock is set. In a simulation, it is an eventfd to which
/// the simulation writes.
///
/// > Thread safety: any thread.
final class WallClockWatch: Sendable {
    let descriptor: CInt

    init() throws(SystemError) {
        if let driver = ThreadDriver.current {
            descriptor = try systemCall("eventfd") { eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK)) }
            driver.watchWallClock { [weak self] in self?.report() ?? false }
            return
        }
        descriptor = try systemCall("timerfd_create") {
            timerfd_create(CLOCK_REALTIME, CInt(TFD_CLOEXEC) | CInt(TFD_NONBLOCK))
        }
        do {
            _ = try systemCall("timerfd_settime") {
                runloops_set_timer(descriptor, CInt(TFD_TIMER_CANCEL_ON_SET), .max)
            }
        } catch {
            // If the clock was set since the timerfd was made, the kernel says so once, and has set the timer all the same.
            if error.code != ECANCELED { throw error }
        }
    }

    deinit { close(descriptor) }

    /// Takes the report that the clock was set, so that the descriptor is not readable before the next one.
    func takeReport() {
        var count: UInt64 = 0
        // Safe: the kernel fills our own value. A timerfd answers ECANCELED instead of a count.
        _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
    }

    private func report() -> Bool {
        // The count cannot overflow, because nobody sets the clock of a simulation so often.
        eventfd_write(descriptor, 1) == 0
    }
}
