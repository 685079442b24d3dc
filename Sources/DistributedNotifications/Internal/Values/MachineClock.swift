internal import Glibc

/// The machine's clock that never steps back, in nanoseconds.
///
/// All processes of the machine read the same time, except processes in another time namespace. The hub
/// sends its time in its welcome message, so that a center in another time namespace notices the difference.
enum MachineClock {
    static var now: Int64 {
        var time = timespec()
        // Safe: the kernel fills our own value.
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
