/// The targets on wake-ups.
struct LatencyTargets {
    /// What was measured.
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
