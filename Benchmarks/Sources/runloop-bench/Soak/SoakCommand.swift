internal import ArgumentParser
internal import Foundation
internal import RunLoops
internal import Synchronization

/// Puts every kind of load on loops at once, for as long as it is told, and counts what is lost.
///
/// Nothing is measured: what counts is what must never happen, and that nothing grows.
struct SoakCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak",
        abstract:
            "Put every kind of load on loops at once, for minutes, and count what is lost; not part of all.",
        discussion:
            "The program fails if something is lost, comes twice or out of order, does not come any more, or "
            + "if memory or descriptors grow. Give it all descriptors that it may have: ulimit -n.")

    @Option(help: "How long, in minutes.")
    var minutes = 10.0

    @Option(help: "Decides what is random; a failing run prints it.")
    var seed: UInt64 = .random(in: 1...UInt64.max)

    @Option(help: "The loads, between commas; all if left out.")
    var only: String?

    func validate() throws {
        if minutes <= 0 { throw ValidationError("--minutes must be more than 0") }
        let unknown = (only ?? "").split(separator: ",").map(String.init).filter { name in
            !Self.loads.contains { $0.key == name }
        }
        if !unknown.isEmpty {
            let known = Self.loads.map(\.key).joined(separator: ",")
            throw ValidationError("--only takes some of \(known)")
        }
    }

    func run() throws {
        let before = SoakResources.now(0)
        var loads = try makeLoads()
        let counted = loads.map { Counted(name: $0.name, tally: $0.tally) }
        print("seed \(seed), \(loads.count) loads, \(minutes) minutes")
        for load in loads { print("  \(load.name): \(load.remark)") }
        let slow = Mutex(0)
        let watchdog = try RunLoopWatchdog(threshold: .seconds(1)) { report in
            if report.phase == .blocked { slow.withLock { $0 += 1 } }
        }
        for (index, load) in loads.enumerated() { try load.start(seed: seed &+ UInt64(index) &* 104_729) }

        var samples: [SoakResources] = []
        var faults: [String] = []
        var watch = Stall(counted)
        let start = Date.now
        while Date.now.timeIntervalSince(start) < minutes * 60 {
            Thread.sleep(forTimeInterval: 1)
            let time = Date.now.timeIntervalSince(start)
            samples.append(.now(time))
            if samples.count % 10 == 0, let sample = samples.last { print(line(sample, counted)) }
            faults = watch.look(counted)
            if !faults.isEmpty { break }
        }
        // What hangs cannot be stopped.
        if faults.isEmpty {
            for load in loads { load.stop() }
            // With them their loops go, each of which keeps a descriptor as long as somebody holds it.
            loads = []
            watchdog.stop()
            let after = SoakResources.now(Date.now.timeIntervalSince(start))
            print("after the end:", line(after, counted))
            // What libraries keep once they were used.
            if after.descriptors > before.descriptors + 16 {
                faults.append("\(after.descriptors - before.descriptors) descriptors are left open")
            }
        }
        let growth = SoakGrowth(samples)
        faults += growth?.faults ?? []
        if !report(counted, faults, growth, slow: slow.withLock { $0 }) { throw ExitCode.failure }
    }

    /// The crowd last: it takes its part of the descriptors that are left.
    private static let loads: KeyValuePairs<String, @Sendable () throws -> any SoakLoad> = [
        "ports": { try PortSoak() }, "performs": { try PerformSoak() }, "timers": { try TimerSoak() },
        "notifications": { try NotificationSoak() }, "signals": { try SignalSoak() },
        "loops ended": { LoopSoak() }, "descriptors": { try DescriptorSoak() },
        "loops kept": { try CrowdSoak() },
    ]

    private func makeLoads() throws -> [any SoakLoad] {
        let names = only?.split(separator: ",").map(String.init)
        return try Self.loads.filter { names?.contains($0.key) ?? true }.map { try $0.value() }
    }

    private func line(_ sample: SoakResources, _ loads: [Counted]) -> String {
        let total = loads.reduce(0) { $0 + $1.tally.received.load(ordering: .relaxed) }
        return String(
            format: "%6.0f s  %@ messages  %.1f MiB allocated  %.1f MiB resident  %d descriptors  %d threads",
            sample.time, "\(total)", Double(sample.allocated) / 1_048_576,
            Double(sample.resident) / 1_048_576, sample.descriptors, sample.threads)
    }

    /// Prints what has come of it.
    ///
    /// - Returns: Whether all is well.
    private func report(
        _ loads: [Counted], _ faults: [String], _ growth: SoakGrowth?, slow: Int
    ) -> Bool {
        var isWell = faults.isEmpty
        print("load             given and come          lost  twice  out of order")
        for load in loads {
            let tally = load.tally
            let lost = max(0, -tally.missing)
            let (twice, misordered) = (
                tally.twice.load(ordering: .relaxed), tally.misordered.load(ordering: .relaxed)
            )
            let name = load.name.padding(toLength: 14, withPad: " ", startingAt: 0)
            print(
                name
                    + String(
                        format: "%17ld  %12ld  %5ld  %12ld", tally.received.load(ordering: .relaxed), lost,
                        twice,
                        misordered))
            if tally.missing != 0 || twice + misordered > 0 || !tally.faults.isEmpty { isWell = false }
            for fault in tally.faults { print("FAILED: \(load.name): \(fault)") }
        }
        print("handlers that took more than a second: \(slow)")
        if let growth {
            print(
                "growth from the second quarter to the last: \(growth.allocated) bytes, \(growth.descriptors) descriptors"
            )
        }
        for fault in faults { print("FAILED: \(fault)") }
        if !isWell { print("FAILED, with --seed \(seed)") }
        return isWell
    }
}

/// The counts of a load, which outlive it.
private struct Counted {
    let name: String
    let tally: SoakTally
}

/// Notices loads of which nothing comes any more.
private struct Stall {
    private var last: [(received: Int, since: Date)]

    init(_ loads: [Counted]) { last = loads.map { _ in (-1, .now) } }

    mutating func look(_ loads: [Counted]) -> [String] {
        var faults: [String] = []
        for (index, load) in loads.enumerated() {
            let received = load.tally.received.load(ordering: .relaxed)
            if received != last[index].received {
                last[index] = (received, .now)
            } else if Date.now.timeIntervalSince(last[index].since) > 60 {
                faults.append("\(load.name): nothing has come for a minute")
            }
        }
        return faults
    }
}
