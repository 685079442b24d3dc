internal import Foundation
internal import Histogram

/// The results of one subject at one placement, over all rounds.
///
/// The histograms store round trips. The results are halved, because one way is half a round trip for all subjects.
struct LatencyResult {
    let subject: PingPongSubject
    /// Every round trip of every round, in nanoseconds.
    private var roundTrips = TimeHistogram()
    /// The round trips of the latest round.
    private var latest = TimeHistogram()
    /// The one-way time of each round, in nanoseconds.
    private(set) var medians: [Double] = []
    private(set) var ninetyNinths: [Double] = []
    /// The resources that all rounds used.
    private(set) var usage = ProcessUsage()
    /// The number of spins that found work, in all rounds.
    private var spinHits: Int?

    init(subject: PingPongSubject) { self.subject = subject }

    /// Adds a round.
    ///
    /// - Parameters:
    ///   - samples: The round trips.
    ///   - gap: The time between two pings. A longer round trip delays later pings, so the histogram adds the times that the
    ///     delayed pings would have taken.
    ///   - usage: The resources that the round used.
    ///   - spinHits: The number of spins that found work.
    mutating func add(
        _ samples: UnsafeBufferPointer<Int64>, gap: Duration, usage: ProcessUsage, spinHits: Int?
    ) {
        latest.reset()
        for sample in samples {
            let value = UInt64(max(1, sample))
            if gap > .zero {
                latest.recordCorrectedValue(value, expectedInterval: UInt64(gap.nanoseconds))
            } else {
                latest.record(value)
            }
        }
        if samples.isEmpty { return }
        medians.append(Double(latest.valueAtPercentile(50)) / 2)
        ninetyNinths.append(Double(latest.valueAtPercentile(99)) / 2)
        roundTrips.add(latest)
        self.usage += usage
        if let spinHits { self.spinHits = (self.spinHits ?? 0) + spinHits }
    }

    /// The given percentile of the one-way times of all samples, in nanoseconds.
    func percentile(_ percentile: Double) -> Double { Double(roundTrips.valueAtPercentile(percentile)) / 2 }

    /// The row of the table, with the ratio to the yardstick at the same placement.
    func row(yardstick: LatencyResult?) -> Table.Row {
        var row = Table.Row(name: subject.rawValue)
        let hops = Double(roundTrips.totalCount) * 2
        guard hops > 0 else { return row }
        row.figures = [
            "p50": percentile(50), "p90": percentile(90), "p99": percentile(99), "p99.9": percentile(99.9),
            "max": Double(roundTrips.max) / 2, "samples": hops / 2,
            "processorsBusy": usage.seconds / usage.elapsed, "processorSeconds": usage.seconds,
            "contextSwitchesPerHop": Double(usage.contextSwitches) / hops,
        ]
        if let spinHits { row.figures["spinHitsPerHop"] = Double(spinHits) / hops }
        if let yardstick, let ratio = Spread(ratios: medians, to: yardstick.medians) {
            row.add(ratio, as: "ratio")
        }
        return row
    }

    /// The distribution of the one-way times, in steps of a twentieth of a decade.
    func distribution() -> Chart.Distribution {
        Chart.Distribution(
            name: subject.rawValue, role: subject.role, median: percentile(50), ninetyNinth: percentile(99),
            bins: roundTrips.bins { $0 / 2 })
    }
}

/// The targets and the comparisons, computed from the results of all placements.
struct LatencyTargets {
    /// The results of each placement that was measured.
    let results: [Placement: [PingPongSubject: LatencyResult]]

    private static let peers: [PingPongSubject] = [.foundation, .nio, .dispatch]

    var rows: [TargetRow] {
        let note = results[.twoProcessors] == nil ? "needs two CPUs" : nil
        return [
            TargetRow(
                "B-L1", "wake-up, parked, two CPUs, p50 ÷ raw", .atMost(1.10), stretch: .atMost(1.03),
                figure: ratio(.port, .raw, .twoProcessors), note: note),
            TargetRow(
                "B-L2", "wake-up, parked, one CPU, p50 ÷ raw", .atMost(1.40), stretch: .atMost(1.15),
                figure: ratio(.port, .raw, .oneProcessor)),
            TargetRow(
                "B-L3", "wake-up while spinning, p50 ÷ raw parked on two CPUs", .atMost(0.03),
                stretch: .atMost(0.01), figure: ratio(.spinning, .raw, .twoProcessors), note: note),
            TargetRow(
                "B-L4", "wake-up, parked, two CPUs, p99 ÷ raw p99", .atMost(1.2), stretch: .atMost(1.05),
                figure: ratio(.port, .raw, .twoProcessors, \.ninetyNinths), note: note),
        ]
            + Self.peers.map { peer in
                TargetRow(
                    "B-L5", "wake-up, parked, two CPUs, our perform ÷ \(peer.rawValue)", .below(1),
                    figure: ratio(.perform, peer, .twoProcessors),
                    note: note ?? (peer == .dispatch ? "half of theirs is a semaphore" : nil))
            }
    }

    var comparisons: [Comparison] {
        Self.peers.compactMap { peer in
            Comparison(
                "Wake a loop that sleeps on another CPU, with perform", peer.rawValue,
                ratio(peer, .perform, .twoProcessors))
        }
    }

    /// The ratios of two subjects' figures in the same rounds, or `nil` if there are none.
    private func ratio(
        _ subject: PingPongSubject, _ yardstick: PingPongSubject, _ placement: Placement,
        _ figures: (LatencyResult) -> [Double] = \.medians
    ) -> Spread? {
        guard let found = results[placement], let left = found[subject], let right = found[yardstick] else {
            return nil
        }
        return Spread(ratios: figures(left), to: figures(right))
    }
}
