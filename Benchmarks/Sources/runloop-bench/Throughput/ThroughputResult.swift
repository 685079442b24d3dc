/// The figures of all subjects in all rounds.
struct ThroughputResult {
    /// The numbers of producers that each subject is measured with.
    static let producerCounts = [1, 2, 4, 8]

    private struct Key: Hashable {
        let subject: ThroughputSubject
        let producers: Int
    }

    /// The sums of one subject with one number of producers.
    private struct Totals {
        var messages = 0
        var usage = ProcessUsage()
        var kernelWrites: Int?
    }

    /// The messages a second.
    private var rates = RoundFigures<Key>()
    private var totals: [Key: Totals] = [:]

    /// Adds a round.
    mutating func add(
        _ round: ThroughputRunner.Round, of subject: ThroughputSubject, producers: Int, kernelWrites: Int?
    ) {
        let key = Key(subject: subject, producers: producers)
        rates.add(round.rate, of: key)
        totals[key, default: Totals()].messages += round.messages
        totals[key, default: Totals()].usage += round.usage
        if let kernelWrites {
            totals[key, default: Totals()].kernelWrites = (totals[key]?.kernelWrites ?? 0) + kernelWrites
        }
    }

    /// One table for each number of producers.
    var tables: [Table] {
        Self.producerCounts.map { producers in
            Table(
                title: "Throughput, producers: \(producers) (millions of messages a second)",
                columns: [
                    .ranged("M/s", "rate", .millions), .ranged("÷ list", "ratio", .ratio),
                    .init("writes", "writesPerMessage", .perMessage),
                    .init("own", "kernelWritesPerMessage", .perMessage),
                ], rows: ThroughputSubject.allCases.map { row(of: $0, producers: producers) })
        }
    }

    private func row(of subject: ThroughputSubject, producers: Int) -> Table.Row {
        var row = Table.Row(name: subject.rawValue)
        let key = Key(subject: subject, producers: producers)
        guard let totals = totals[key] else { return row }
        let messages = Double(totals.messages)
        row.figures = ["producers": Double(producers), "messages": messages]
        row.add(rates.spread(key), as: "rate")
        row.add(ratio(subject, .list, producers: producers), as: "ratio")
        if let writes = totals.usage.writes { row.figures["writesPerMessage"] = Double(writes) / messages }
        if let writes = totals.kernelWrites {
            row.figures["kernelWritesPerMessage"] = Double(writes) / messages
        }
        row.figures["contextSwitchesPerMessage"] = Double(totals.usage.contextSwitches) / messages
        row.figures["processorSeconds"] = totals.usage.seconds
        return row
    }

    /// A bar chart of the rates.
    var chart: Chart {
        .rates(
            "Throughput to one consumer", of: "messages",
            groups: ThroughputSubject.allCases.map { subject in
                Chart.BarGroup(
                    name: subject.rawValue, role: subject.role,
                    bars: Self.producerCounts.compactMap { producers in
                        rates.spread(Key(subject: subject, producers: producers)).map {
                            Chart.Bar(
                                name: producers == 1 ? "1 producer" : "\(producers) producers", value: $0)
                        }
                    })
            })
    }

    /// The targets of draining.
    var targets: [TargetRow] {
        let peers: [(ThroughputSubject, Double, Double)] = [
            (.nio, 2, 4), (.dispatch, 2, 4), (.foundation, 15, 40),
        ]
        return [
            TargetRow(
                "B-Q1", "drain, typed port message, one producer ÷ list", .atLeast(2.5), stretch: .atLeast(5),
                figure: ratio(.port, .list)),
            TargetRow(
                "B-Q2", "drain, perform closure with one capture ÷ list", .atLeast(0.7),
                stretch: .atLeast(1.2), figure: ratio(.perform, .list)),
            TargetRow(
                "B-Q4", "drain, typed port message in batches of 16 ÷ list", .atLeast(6),
                stretch: .atLeast(12), figure: ratio(.portBatch, .list)),
            TargetRow(
                "B-Q5", "typed port message, four producers ÷ one producer", .atLeast(0.7),
                stretch: .atLeast(1),
                figure: rates.ratio(
                    Key(subject: .port, producers: 4), to: Key(subject: .port, producers: 1))),
        ]
            + peers.map { peer, target, stretch in
                TargetRow(
                    "B-Q6", "drain, our perform ÷ \(peer.rawValue)", .atLeast(target),
                    stretch: .atLeast(stretch), figure: ratio(.perform, peer))
            }
    }

    /// The comparisons of times, which are the inverse of the rates.
    var comparisons: [Comparison] {
        [ThroughputSubject.foundation, .nio, .dispatch].compactMap { peer in
            Comparison("Drain a queue of blocks, one producer", peer.rawValue, ratio(.perform, peer))
        }
    }

    private func ratio(
        _ subject: ThroughputSubject, _ yardstick: ThroughputSubject, producers: Int = 1
    ) -> Spread? {
        rates.ratio(
            Key(subject: subject, producers: producers), to: Key(subject: yardstick, producers: producers))
    }
}
