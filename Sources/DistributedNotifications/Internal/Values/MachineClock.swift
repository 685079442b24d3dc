internal import Glibc
internal import RunLoops

/// The machine's clock that never steps back, in nanoseconds.
///
/// All processes of the machine read the same time, except processes in another time namespace. The hub
/// sends its time in its welcome message, so that a center in another time namespace notices the difference.
enum MachineClock {
    static var now: Int64 { SystemClock.nanoseconds(of: CLOCK_MONOTONIC) }
}
