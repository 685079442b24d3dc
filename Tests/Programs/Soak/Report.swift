internal import Foundation
internal import Synchronization

/// The result of a soak.
struct Report {
    let seed: UInt64
    /// The tallies of the loads, which outlive the loads.
    let loads: [(name: String, tally: Tally)]
    /// Faults that do not belong to one load.
    var faults: [String] = []
    var growth: Growth?
    var slowHandlers = 0

    init(seed: UInt64, loads: [(name: String, tally: Tally)]) {
        self.seed = seed
        self.loads = loads
    }

    /// A line about the process while the loads run.
    func line(_ sample: Resources) -> String {
        let total = loads.reduce(0) { $0 + $1.tally.received.load(ordering: .relaxed) }
        return String(
            format: "%6.0f s  %@ messages  %.1f MiB allocated  %.1f MiB resident  %d descriptors  %d threads",
            sample.time, "\(total)", Double(sample.allocated) / 1_048_576,
            Double(sample.resident) / 1_048_576, sample.descriptors, sample.threads)
    }

    /// Prints the report.
    ///
    /// - Returns: True if there was no fault.
    func print() -> Bool {
        var passed = faults.isEmpty && growth?.faults.isEmpty ?? true
        Swift.print("load                received          lost  twice  out of order")
        for (name, tally) in loads {
            let lost = max(0, -tally.missing)
            let twice = tally.twice.load(ordering: .relaxed)
            let misordered = tally.misordered.load(ordering: .relaxed)
            let received = tally.received.load(ordering: .relaxed)
            Swift.print(
                name.padding(toLength: 14, withPad: " ", startingAt: 0)
                    + String(format: "%14ld  %12ld  %5ld  %12ld", received, lost, twice, misordered))
            if tally.missing != 0 || twice + misordered > 0 || !tally.faults.isEmpty { passed = false }
            for fault in tally.faults { Swift.print("FAILED: \(name): \(fault)") }
        }
        Swift.print("handlers that took more than a second: \(slowHandlers)")
        if let growth {
            Swift.print(
                "growth from the second quarter to the last: \(growth.allocated) bytes, "
                    + "\(growth.descriptors) descriptors")
        }
        for fault in faults + (growth?.faults ?? []) { Swift.print("FAILED: \(fault)") }
        if !passed { Swift.print("FAILED, with --seed \(seed)") }
        return passed
    }
}

/// Detects loads of which nothing has arrived for a minute.
struct StallDetector {
    private var last: [(received: Int, since: Date)]

    init(_ loads: [(name: String, tally: Tally)]) { last = loads.map { _ in (-1, .now) } }

    mutating func check(_ loads: [(name: String, tally: Tally)]) -> [String] {
        var faults: [String] = []
        for (index, load) in loads.enumerated() {
            let received = load.tally.received.load(ordering: .relaxed)
            if received != last[index].received {
                last[index] = (received, .now)
            } else if Date.now.timeIntervalSince(last[index].since) > 60 {
                faults.append("\(load.name): nothing has arrived for a minute")
            }
        }
        return faults
    }
}
