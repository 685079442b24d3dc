internal import Foundation
internal import RunLoops
internal import Synchronization

/// Gives every kind of load to loops at once for minutes, and counts losses.
///
/// The program measures no times. It fails if work is lost, arrives twice or out of order, or stops arriving, or if memory or
/// descriptors grow.
@main struct Soak {
    private static let usage = """
        usage: Soak [--minutes 10] [--seed NUMBER] [--only LOADS]

        Puts every kind of load on loops at once, and counts what is lost. Fails if something is lost, arrives
        twice or out of order, or stops arriving, or if memory or descriptors grow. Raise the limit on
        descriptors first: ulimit -n.

          --minutes  How many minutes to run.
          --seed     The seed of all random decisions. A failing run prints its seed.
          --only     The loads to run, separated by commas; all of them if left out:
                     \(loads.map(\.key).joined(separator: ","))
        """

    /// The many loops are last, because they use a share of the remaining descriptors.
    private static let loads: KeyValuePairs<String, @Sendable () throws -> any Load> = [
        "ports": { try PortLoad() }, "performs": { try PerformLoad() }, "timers": { try TimerLoad() },
        "notifications": { try NotificationLoad() }, "signals": { try SignalLoad() },
        "loops ended": { EndingLoopsLoad() }, "descriptors": { try DescriptorLoad() },
        "loops kept": { try ManyLoopsLoad() },
    ]

    private var minutes = 10.0
    private var seed = UInt64.random(in: 1...UInt64.max)
    private var only: [String]?

    static func main() throws {
        guard let soak = Soak(CommandLine.arguments.dropFirst()) else {
            print(usage)
            exit(2)
        }
        if try !soak.run() { exit(1) }
    }

    /// Reads the command line; nil if it is invalid.
    private init?(_ arguments: ArraySlice<String>) {
        var rest = arguments
        while let option = rest.popFirst() {
            guard let value = rest.popFirst() else { return nil }
            switch option {
            case "--minutes":
                guard let minutes = Double(value), minutes > 0 else { return nil }
                self.minutes = minutes
            case "--seed":
                guard let seed = UInt64(value) else { return nil }
                self.seed = seed
            case "--only":
                let names = value.split(separator: ",").map(String.init)
                if !names.allSatisfy({ name in Self.loads.contains { $0.key == name } }) { return nil }
                only = names
            default: return nil
            }
        }
    }

    /// Runs the loads, and prints the result.
    ///
    /// - Returns: False if there was a fault.
    private func run() throws -> Bool {
        let before = Resources.now(0)
        var loads = try Self.loads.filter { only?.contains($0.key) ?? true }.map { try $0.value() }
        var report = Report(seed: seed, loads: loads.map { ($0.name, $0.tally) })
        print("seed \(seed), \(loads.count) loads, \(minutes) minutes")
        for load in loads { print("  \(load.name): \(load.remark)") }
        let slowHandlers = Mutex(0)
        let watchdog = try RunLoopWatchdog(threshold: .seconds(1)) { incident in
            if incident.phase == .blocked { slowHandlers.withLock { $0 += 1 } }
        }
        for (index, load) in loads.enumerated() { try load.start(seed: seed &+ UInt64(index) &* 104_729) }

        var samples: [Resources] = []
        var stall = StallDetector(report.loads)
        let start = Date.now
        while Date.now.timeIntervalSince(start) < minutes * 60 {
            Thread.sleep(forTimeInterval: 1)
            let sample = Resources.now(Date.now.timeIntervalSince(start))
            samples.append(sample)
            if samples.count % 10 == 0 { print(report.line(sample)) }
            report.faults = stall.check(report.loads)
            if !report.faults.isEmpty { break }
        }
        // A load that hangs cannot be stopped.
        if report.faults.isEmpty {
            for load in loads { load.stop() }
            // The loops are released, too: a loop has descriptors as long as it is referenced.
            loads = []
            watchdog.stop()
            let after = Resources.now(Date.now.timeIntervalSince(start))
            print("after the end:", report.line(after))
            // Some libraries keep descriptors open after their first use.
            if after.descriptors > before.descriptors + 16 {
                report.faults.append("\(after.descriptors - before.descriptors) descriptors are left open")
            }
        }
        report.growth = Growth(samples)
        report.slowHandlers = slowHandlers.withLock { $0 }
        return report.print()
    }
}
