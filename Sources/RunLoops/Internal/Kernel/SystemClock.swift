internal import CLibEvent

/// The clocks of the kernel.
package enum SystemClock {
    /// Reads a clock that every kernel has.
    ///
    /// - Parameter clock: The number of the clock, such as `CLOCK_MONOTONIC`.
    /// - Returns: The time in nanoseconds.
    package static func nanoseconds(of clock: CInt) -> Int64 { runloops_clock(clock) }
}
