package import RunLoops

extension ProcessReport {
    /// A summary of the last seconds of a process, from its flight recorder.
    package struct Recent: Codable, Hashable, Sendable {
        /// The time that the recording covers, in nanoseconds.
        package var covered: Int64
        /// The source locations at which the recorded handlers were made.
        ///
        /// The location with the longest call comes first. There are at most 50 locations: those with the longest calls.
        package var handlers: [Place]
        /// The durations of the recorded calls of handlers, as a histogram.
        package var lengths: Histogram
        /// The times from the sending of a message to the call of its handler.
        package var waits: Histogram
        /// The delays of timers: for each call of a timer's handler, the time that has passed since the timer was due.
        package var latenesses: Histogram
        /// The number of notifications that were discarded because an observer had no room.
        package var drops: Int
    }

    /// The recorded calls of all handlers that were made at one source location.
    package struct Place: Codable, Hashable, Sendable {
        /// The kind of the handlers, in words.
        package var kind: String
        /// The source location at which the handlers were made.
        package var madeAt: String
        /// The number of recorded calls.
        package var count: Int
        /// The total duration of the recorded calls, in nanoseconds.
        package var total: Int64
        /// The duration of the longest call, in nanoseconds.
        package var longest: Int64
        /// The longest time from the sending of a message to the call of its handler, in nanoseconds.
        package var longestWait: Int64
    }
}

extension ProcessReport.Recent {
    /// Summarizes a snapshot of a flight recorder.
    ///
    /// - Parameter snapshot: The snapshot.
    package init(_ snapshot: FlightRecorder.Snapshot) {
        struct Key: Hashable {
            let kind: RunLoop.HandlerKind
            let place: String
        }
        var places: [Key: ProcessReport.Place] = [:]
        var lengths = Histogram()
        var waits = Histogram()
        var latenesses = Histogram()
        var drops = 0
        for thread in snapshot.threads {
            for event in thread.events {
                if case .drop(let count) = event.kind { drops += count }
                guard case .handler(let kind) = event.kind, let duration = event.duration else { continue }
                let length = duration.wholeNanoseconds
                lengths.add(length)
                if let wait = event.wait { waits.add(wait.wholeNanoseconds) }
                if let lateness = event.lateness { latenesses.add(lateness.wholeNanoseconds) }
                let none = ProcessReport.Place(
                    kind: kind.description, madeAt: event.place, count: 0, total: 0, longest: 0,
                    longestWait: 0)
                places[Key(kind: kind, place: event.place), default: none].count += 1
                places[Key(kind: kind, place: event.place), default: none].add(
                    length, wait: event.wait?.wholeNanoseconds ?? 0)
            }
        }
        let slowest = places.values.sorted { ($0.longest, $0.madeAt) > ($1.longest, $1.madeAt) }
        self.init(
            covered: (snapshot.end - snapshot.start).wholeNanoseconds,
            handlers: Array(slowest.prefix(50)), lengths: lengths, waits: waits, latenesses: latenesses,
            drops: drops)
    }
}

extension ProcessReport.Place {
    fileprivate mutating func add(_ length: Int64, wait: Int64) {
        total = total.clampedSum(length)
        longest = max(longest, length)
        longestWait = max(longestWait, wait)
    }
}

extension Duration {
    /// The duration in nanoseconds, without fractions.
    ///
    /// A duration of 292 years or more becomes `Int64.max`, and one of less than −292 years becomes `Int64.min`.
    package var wholeNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
}
