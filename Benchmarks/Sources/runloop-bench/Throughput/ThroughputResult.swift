/// The sum of the rounds of all subjects.
struct ThroughputResult {
    /// The numbers of producers that each subject is measured with.
    static let producerCounts = [1, 2, 4, 8]

    private struct Key: Hashable {
        let subject: ThroughputSubject
        let producers: Int
    }

    /// One subject with so many producers.
    private struct Entry {
        /// Messages a second, one figure a round.
        var rates: [Double] = []
        var messages = 0
        var usage = Usage()
        var kernelWrites: Int?
    }

    private var entries: [Key: Entry] = [:]

    /// Adds a round.
    mutating func add(
        _ round: ThroughputRunner.Round, of subject: ThroughputSubject, producers: Int, kernelWrites: Int?
    ) {
        var entry = entries.removeValue(forKey: Key(subject: subject, producers: producers)) ?? Entry()
        entry.rates.append(round.rate)
        entry.messages += round.messages
        entry.usage += round.usage
        if let kernelWrites { entry.kernelWrites = (entry.kernelWrites ?? 0) + kernelWrites }
        entries[Key(subject: subject, producers: producers)] = entry
    }

    /// One table for each number of producers.
    var tables: [Table] {
        Self.producerCounts.map { producers in
            var table = Table(
                title: "Throughput, producers: \(producers) (millions of messages a second)",
                columns: [
                    .init("M/s", "rate", .millions), .init("from", "rateLow", .millions),
                    .init("to", "rateHigh", .millions), .init("÷ list", "ratio", .ratio),
                    .init("from", "ratioLow", .ratio), .init("to", "ratioHigh", .ratio),
                    .init("writes", "writesPerMessage", .perMessage),
                    .init("own", "kernelWritesPerMessage", .perMessage),
                ])
            table.rows = ThroughputSubject.allCases.map { row(of: $0, producers: producers) }
            return table
        }
    }

    private func row(of subject: ThroughputSubject, producers: Int) -> Table.Row {
        var row = Table.Row(name: subject.rawValue)
        guard let entry = entries[Key(subject: subject, producers: producers)] else { return row }
        let messages = Double(entry.messages)
        row.figures = ["producers": Double(producers), "messages": messages]
        if let rate = Spread(entry.rates) {
            row.figures["rate"] = rate.median
            row.figures["rateLow"] = rate.lowerQuartile
            row.figures["rateHigh"] = rate.upperQuartile
        }
        if let ratio = ratio(subject, .list, producers: producers) {
            row.figures["ratio"] = ratio.median
            row.figures["ratioLow"] = ratio.lowerQuartile
            row.figures["ratioHigh"] = ratio.upperQuartile
        }
        if let writes = entry.usage.writes { row.figures["writesPerMessage"] = Double(writes) / messages }
        if let writes = entry.kernelWrites {
            row.figures["kernelWritesPerMessage"] = Double(writes) / messages
        }
        row.figures["contextSwitchesPerMessage"] = Double(entry.usage.contextSwitches) / messages
        row.figures["processorSeconds"] = entry.usage.seconds
        return row
    }

    /// The rates as bars.
    var chart: Chart {
        let groups = ThroughputSubject.allCases.map { subject in
            Chart.BarGroup(
                name: subject.rawValue, role: subject.role,
                bars: Self.producerCounts.compactMap { producers in
                    let rates = entries[Key(subject: subject, producers: producers)]?.rates ?? []
                    let name = producers == 1 ? "1 producer" : "\(producers) producers"
                    return Spread(rates).map { Chart.Bar(name: name, value: $0) }
                })
        }
        return .bars(
            title: "Throughput to one consumer",
            reading:
                "Longer is faster: millions of messages a second, the median of all rounds; the thin line "
                + "spans half of the rounds.",
            unit: "M/s", groups: groups)
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
                stretch: .atLeast(1.2),
                figure: ratio(.perform, .list)),
            TargetRow(
                "B-Q4", "drain, typed port message in batches of 16 ÷ list", .atLeast(6),
                stretch: .atLeast(12),
                figure: ratio(.portBatch, .list)),
            TargetRow(
                "B-Q5", "typed port message, four producers ÷ one producer", .atLeast(0.7),
                stretch: .atLeast(1),
                figure: Spread(ratios: rates(.port, producers: 4), to: rates(.port, producers: 1))),
        ]
            + peers.map { peer, target, stretch in
                TargetRow(
                    "B-Q6", "drain, our perform ÷ \(peer.rawValue)", .atLeast(target),
                    stretch: .atLeast(stretch),
                    figure: ratio(.perform, peer))
            }
    }

    private func rates(_ subject: ThroughputSubject, producers: Int) -> [Double] {
        entries[Key(subject: subject, producers: producers)]?.rates ?? []
    }

    private func ratio(
        _ subject: ThroughputSubject, _ yardstick: ThroughputSubject, producers: Int = 1
    ) -> Spread? {
        Spread(ratios: rates(subject, producers: producers), to: rates(yardstick, producers: producers))
    }
}
