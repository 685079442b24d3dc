internal import Foundation
internal import Histogram

/// The sum of the rounds of one subject at one placement.
///
/// Round trips are recorded, and halved when they are read: one way is half a round trip, for all subjects.
struct LatencyResult {
    let subject: PingPongSubject
    /// Every round trip of every round, in nanoseconds.
    private var roundTrips = LatencyResult.histogram()
    /// The round trips of the latest round.
    private var latest = LatencyResult.histogram()
    /// One figure a round, one way, in nanoseconds.
    private(set) var medians: [Double] = []
    private(set) var ninetyNinths: [Double] = []
    /// What all rounds used.
    private(set) var usage = Usage()
    /// Spins that had work, in all rounds.
    private var spinHits: Int?

    init(subject: PingPongSubject) { self.subject = subject }

    private static func histogram() -> Histogram<UInt64> {
        Histogram(highestTrackableValue: 100_000_000_000, numberOfSignificantValueDigits: .three)
    }

    /// Adds a round.
    ///
    /// - Parameters:
    ///   - samples: Its round trips.
    ///   - gap: The pace that was asked for. A round trip that takes longer than the gap kept later pings
    ///     from being sent when they were due; the histogram adds what those would have seen.
    ///   - usage: What the round used.
    ///   - spinHits: How often a side that spun had work.
    mutating func add(_ samples: UnsafeBufferPointer<Int64>, gap: Duration, usage: Usage, spinHits: Int?) {
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

    /// The time one way that this percentage of all samples did not exceed, in nanoseconds.
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
            row.figures["ratio"] = ratio.median
            row.figures["ratioLow"] = ratio.lowerQuartile
            row.figures["ratioHigh"] = ratio.upperQuartile
        }
        return row
    }

    /// The distribution one way, in steps of a twentieth of a decade.
    func distribution() -> Chart.Distribution {
        Chart.Distribution(
            name: subject.rawValue, role: subject.role, median: percentile(50), ninetyNinth: percentile(99),
            bins: roundTrips.bins { $0 / 2 })
    }
}

/// The targets and the comparisons that all placements together give.
struct LatencyTargets {
    /// The results of each placement that was measured.
    let results: [Placement: [PingPongSubject: LatencyResult]]

    var rows: [TargetRow] {
        let twoProcessors = "needs two CPUs"
        let peers: [PingPongSubject] = [.foundation, .nio, .dispatch]
        return [
            TargetRow(
                "B-L1", "wake-up, parked, two CPUs, p50 ÷ raw", .atMost(1.10), stretch: .atMost(1.03),
                figure: medianRatio(.port, .raw, .twoProcessors), note: note(twoProcessors)),
            TargetRow(
                "B-L2", "wake-up, parked, one CPU, p50 ÷ raw", .atMost(1.40), stretch: .atMost(1.15),
                figure: medianRatio(.port, .raw, .oneProcessor)),
            TargetRow(
                "B-L3", "wake-up while spinning, p50 ÷ raw parked on two CPUs", .atMost(0.03),
                stretch: .atMost(0.01), figure: medianRatio(.spinning, .raw, .twoProcessors),
                note: note(twoProcessors)),
            TargetRow(
                "B-L4", "wake-up, parked, two CPUs, p99 ÷ raw p99", .atMost(1.2), stretch: .atMost(1.05),
                figure: ninetyNinthRatio(.port, .raw, .twoProcessors), note: note(twoProcessors)),
        ]
            + peers.map { peer in
                TargetRow(
                    "B-L5", "wake-up, parked, two CPUs, our perform ÷ \(peer.rawValue)", .below(1),
                    figure: medianRatio(.perform, peer, .twoProcessors),
                    note: note(twoProcessors) ?? (peer == .dispatch ? "half of theirs is a semaphore" : nil))
            }
    }

    /// The reason, where a figure is missing.
    private func note(_ reason: String) -> String? { results[.twoProcessors] == nil ? reason : nil }

    private func medianRatio(
        _ subject: PingPongSubject, _ yardstick: PingPongSubject, _ placement: Placement
    ) -> Spread? {
        guard let found = results[placement], let ours = found[subject], let theirs = found[yardstick] else {
            return nil
        }
        return Spread(ratios: ours.medians, to: theirs.medians)
    }

    private func ninetyNinthRatio(
        _ subject: PingPongSubject, _ yardstick: PingPongSubject, _ placement: Placement
    ) -> Spread? {
        guard let found = results[placement], let ours = found[subject], let theirs = found[yardstick] else {
            return nil
        }
        return Spread(ratios: ours.ninetyNinths, to: theirs.ninetyNinths)
    }
}
