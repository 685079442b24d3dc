internal import CRunLoops

/// The clock of a flight recording: the processor's cycle counter, or the clock of ``Moment`` in nanoseconds.
///
/// The cycle counter is preferred, because reading it takes a third of the time that reading the system's clock takes. A recording
/// counts nanoseconds only if the cycle counter is not steady, or in a simulation.
enum RecorderClock: Sendable {
    case cycles
    case nanoseconds

    /// The best clock for a recording that begins on this thread.
    static var best: RecorderClock {
        !ThreadDriver.isPresent && runloops_cycles_are_steady() ? .cycles : .nanoseconds
    }

    var ticks: UInt64 {
        @inline(__always) get {
            switch self {
            case .cycles: runloops_cycles()
            case .nanoseconds: UInt64(bitPattern: Moment.now().nanoseconds)
            }
        }
    }

    /// Reads this clock and the clock of ``Moment`` at almost the same time.
    func reading() -> Reading {
        if self == .nanoseconds {
            let now = Moment.now()
            return Reading(ticks: UInt64(bitPattern: now.nanoseconds), moment: now)
        }
        var best: (width: UInt64, reading: Reading)?
        // The thread can be preempted between the two readings, so the closest of several pairs is taken.
        for _ in 0..<8 {
            let before = ticks
            let moment = Moment.now()
            let width = ticks &- before
            if width < best?.width ?? .max {
                best = (width, Reading(ticks: before &+ width / 2, moment: moment))
            }
        }
        guard let best else { preconditionFailure("the clocks were read") }
        return best.reading
    }

    /// One point in time, in ticks of a recorder's clock and as a moment.
    struct Reading: Sendable {
        let ticks: UInt64
        let moment: Moment
    }
}

/// A conversion of a recorder's ticks to moments.
///
/// It is computed from two readings. Each reading states one point in time, both in ticks and as a moment.
struct TickScale: Sendable {
    private let first: RecorderClock.Reading
    private let nanosecondsPerTick: Double

    init(_ first: RecorderClock.Reading, _ second: RecorderClock.Reading) {
        self.first = first
        let ticks = second.ticks &- first.ticks
        let nanoseconds = second.moment.nanoseconds - first.moment.nanoseconds
        // No event was recorded between two equal readings.
        nanosecondsPerTick = ticks == 0 ? 1 : Double(nanoseconds) / Double(ticks)
    }

    func nanoseconds(_ ticks: UInt64) -> Int64 { Int64((Double(ticks) * nanosecondsPerTick).rounded()) }

    func moment(_ ticks: UInt64) -> Moment {
        let distance = Int64(bitPattern: ticks &- first.ticks)
        return Moment(
            nanoseconds: first.moment.nanoseconds + Int64((Double(distance) * nanosecondsPerTick).rounded()))
    }
}

extension RecorderClock {
    /// Measures the number of ticks in a microsecond.
    ///
    /// If the clock counts cycles, this takes a fifth of a millisecond.
    func measureMicrosecond() -> UInt64 {
        if self == .nanoseconds { return 1_000 }
        let first = reading()
        var second = reading()
        while second.moment.nanoseconds - first.moment.nanoseconds < 200_000 { second = reading() }
        let nanoseconds = UInt64(second.moment.nanoseconds - first.moment.nanoseconds)
        return max(1, (second.ticks &- first.ticks) * 1_000 / nanoseconds)
    }
}
