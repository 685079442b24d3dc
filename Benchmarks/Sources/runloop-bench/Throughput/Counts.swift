/// Isolates what no machine changes: how many system calls and allocations a message or a pass costs.
///
/// Read the targets' rows; a miss there fails the program. The table says what the peers pay.
struct Counts {
    /// Allocations a message, by subject.
    private(set) var table = Table(
        title: "Allocations a message, one producer, steady state, at most 1,024 under way",
        columns: [
            .init("mallocs", "allocations", .perMessage), .init("least", "least", .perMessage),
            .init("most", "most", .perMessage),
        ])
    private(set) var targets: [TargetRow] = []
    private(set) var failures: [String] = []

    /// Takes all counts.
    init(
        subjects: [(ThroughputSubject, any MessageChannel)], rig: Rig, session: Session
    ) throws {
        for policy in SaturatedLoop.Policy.allCases {
            let writes = try SaturatedLoop.kernelWritesPerMessage(
                policy, messages: session.isQuick ? 100_000 : 500_000, machine: session.machine)
            targets.append(
                TargetRow(
                    "B-C1", "kernel wake-up writes a message at saturation, \(policy.rawValue)",
                    .atMost(0.02),
                    stretch: .atMost(0), figure: Spread([writes.own]), isCount: true,
                    note: writes.kernel.map { "the kernel counted \(NumberFormat.perMessage.text($0))" }))
        }
        var allocations: [ThroughputSubject: Spread] = [:]
        for (subject, channel) in subjects {
            rig.place(channel, on: session.machine)
            let stretches = try rig.allocations(
                channel, stretches: 9, messages: session.isQuick ? 1024 : 2048)
            guard let spread = Spread(stretches) else { continue }
            allocations[subject] = spread
            table.rows.append(
                Table.Row(
                    name: subject.rawValue,
                    figures: ["allocations": spread.median, "least": spread.least, "most": spread.most]))
        }
        // The list makes one a message by design. Another figure means that the counter is not in place.
        if let list = allocations[.list], list.median != 1 {
            failures.append("the allocation counter saw \(list.median) a message of the list, which makes 1")
        }
        for (subject, what) in [(ThroughputSubject.port, "typed message"), (.perform, "one-capture closure")]
        {
            targets.append(
                TargetRow(
                    "B-C2", "mallocs a \(what), steady state", .atMost(0), figure: allocations[subject],
                    isCount: true))
        }
        targets.append(
            TargetRow(
                "B-C3", "system calls a pass of a busy loop without descriptors", .atMost(0),
                figure: Spread([try BusyLoop.kernelCallsPerPass(passes: session.isQuick ? 20_000 : 200_000)]),
                isCount: true))
    }
}
