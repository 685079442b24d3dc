internal import Glibc

/// The clock of the machine, whose dates are nanoseconds since 1970.
enum WallClock {
    static var now: Int64 {
        var time = timespec()
        // Safe: the kernel fills our own value.
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
