internal import Glibc
internal import RunLoops

/// The clock of the machine, whose dates are nanoseconds since 1970.
enum WallClock {
    static var now: Int64 { SystemClock.nanoseconds(of: CLOCK_REALTIME) }
}
