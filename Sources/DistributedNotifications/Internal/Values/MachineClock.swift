internal import Glibc

/// The clock of the machine that never steps back, in nanoseconds.
///
/// All processes of the machine read the same time, except processes in another time namespace. The hub
/// says its time in its welcome, so that a center in another namespace notices.
enum MachineClock {
    static var now: Int64 {
        var time = timespec()
        // Safe: the kernel fills our own value.
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
