/// What is compared by its round trips.
protocol TripSubject: Hashable, CaseIterable, RawRepresentable<String> {
    var role: Chart.Role { get }
}

/// The round trips of several subjects at several placements: the median and the tail of each round, in nanoseconds.
struct TripFigures<Subject: TripSubject> {
    /// A subject at a placement.
    struct Key: Hashable {
        let placement: Placement
        let subject: Subject
    }

    private var medians = RoundFigures<Key>()
    private var tails = RoundFigures<Key>()

    /// Adds the next round's; once a round for each subject at each placement.
    mutating func add(_ trips: Rally.Trips, of key: Key) {
        medians.add(trips.median, of: key)
        tails.add(trips.tail, of: key)
    }

    /// The quotients of two subjects' medians of the same rounds; `nil` if there was none.
    func ratio(_ placement: Placement, _ subject: Subject, to yardstick: Subject) -> Spread? {
        medians.ratio(
            Key(placement: placement, subject: subject), to: Key(placement: placement, subject: yardstick))
    }

    /// A table for each placement at which anything was measured.
    ///
    /// - Parameters:
    ///   - title: What is in the table; the placement follows, and then the unit.
    ///   - unit: The unit.
    ///   - columns: The columns behind those for p50 and p99.
    ///   - fill: Fills those.
    /// - Returns: The tables.
    func tables(
        _ title: String, unit: String, columns: [Table.Column], _ fill: (inout Table.Row, Key) -> Void
    ) -> [Table] {
        Placement.allCases.compactMap { placement in
            var table = Table(
                title: "\(title), \(placement.rawValue)\(unit.isEmpty ? "" : " (\(unit))")",
                columns: [
                    .init(unit.isEmpty ? "p50 µs" : "p50", "p50", .microseconds),
                    .init(unit.isEmpty ? "p99 µs" : "p99", "p99", .microseconds),
                ] + columns)
            table.rows = Subject.allCases.compactMap { subject in
                let key = Key(placement: placement, subject: subject)
                guard let median = medians.spread(key), let tail = tails.spread(key) else { return nil }
                var row = Table.Row(name: subject.rawValue)
                row.figures = ["p50": median.median, "p99": tail.median]
                fill(&row, key)
                return row
            }
            return table.rows.isEmpty ? nil : table
        }
    }

    /// The rates as bars.
    func chart(_ title: String) -> Chart {
        .bars(
            title: title,
            reading:
                "Longer is faster: millions of round trips a second, the median of all rounds; the thin line spans "
                + "half of the rounds.",
            unit: "M/s",
            groups: Subject.allCases.map { subject in
                Chart.BarGroup(
                    name: subject.rawValue, role: subject.role,
                    bars: Placement.allCases.compactMap { placement in
                        medians.spread(Key(placement: placement, subject: subject)) { 1e9 / $0 }
                            .map { Chart.Bar(name: placement.rawValue, value: $0) }
                    })
            })
    }
}

extension Rally {
    /// The round trips of one rally.
    struct Trips {
        let median: Double
        let tail: Double
    }

    /// A rally that came to no good end.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Lets two sides play for so long.
    func play(_ player: some PingPong, length: Duration) throws(Failure) -> Trips {
        prepare(length: length, gap: .zero)
        player.start()
        if let reason = wait() { throw Failure(description: reason) }
        let sorted = samples.map(Double.init).sorted()
        if sorted.isEmpty { throw Failure(description: "no round trip in time") }
        return Trips(median: sorted[sorted.count / 2], tail: sorted[sorted.count * 99 / 100])
    }
}
