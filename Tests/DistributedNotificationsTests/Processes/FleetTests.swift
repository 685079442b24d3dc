import Foundation
import TestSupport
import Testing

/// Processes that are killed and stopped while they post, observe and serve.
@Suite(.serialized) struct FleetTests {
    private enum Fault: CaseIterable {
        case killHub, killPoster, killObserver, stopObserver, stopHub, removeNames
    }

    /// The number of seeds of each fault; more in the long form.
    private static let seeds =
        ProcessInfo.processInfo.environment["RUNLOOPS_STRESS_FLEET"].flatMap(UInt64.init) ?? 2

    /// Runs a fleet with faults, waits until it is at rest, and checks what its processes have written.
    ///
    /// - Returns: The number of gaps.
    private func run(_ faults: [Fault], seed: UInt64, posts: Int = 600) throws -> Int {
        var random = SplitMix64(seed: seed)
        let fleet = try Fleet()
        let hub = fleet.start("hub")
        #expect(fleet.wait(for: "serves", from: hub))
        let observers = (0..<3).map { _ in fleet.start("observe") }
        for observer in observers { #expect(fleet.wait(for: "confirmed", from: observer)) }
        let posters = (0..<2).map { _ in fleet.start("post", "\(posts)") }
        for poster in posters { #expect(fleet.wait(for: "post", from: poster)) }
        for fault in faults {
            usleep(UInt32.random(in: 1_000...30_000, using: &random))
            apply(fault, to: fleet, hub, &random)
        }
        for poster in fleet.living("post") { #expect(fleet.wait(for: "settled", from: poster)) }
        let gaps = try check(fleet)
        try fleet.end()
        return gaps
    }

    private func apply(_ fault: Fault, to fleet: Fleet, _ hub: Int, _ random: inout SplitMix64) {
        switch fault {
        case .killHub: fleet.kill9(hub)
        case .killPoster: fleet.living("post").randomElement(using: &random).map(fleet.kill9)
        case .killObserver: fleet.living("observe").randomElement(using: &random).map(fleet.kill9)
        case .stopObserver, .stopHub:
            let stopped = fault == .stopHub ? hub : fleet.living("observe").randomElement(using: &random)
            guard let stopped, fleet.members[stopped].isAlive else { return }
            fleet.send(SIGSTOP, to: stopped)
            usleep(UInt32.random(in: 20_000...200_000, using: &random))
            fleet.send(SIGCONT, to: stopped)
        case .removeNames:
            for file in (try? fleet.directory.files()) ?? [] {  // Safe: the kernel reads the string.
                _ = unsafe unlink(fleet.directory.path + "/" + file)
            }
        }
    }

    /// Checks all observers, as soon as everything is accounted for.
    private func check(_ fleet: Fleet) throws -> Int {
        let deadline = ContinuousClock.now + .seconds(40)
        while true {
            var checker = Checker(fleet)
            let failures = fleet.living("observe").compactMap {
                checker.failure(of: fleet.lines(of: $0), isComplete: true)
            }
            if failures.isEmpty {
                #expect(checker.deliveredCount > 0 || fleet.living("observe").isEmpty)
                return checker.gapCount
            }
            if ContinuousClock.now > deadline {
                Issue.record("\(failures)")
                return checker.gapCount
            }
            usleep(20_000)
        }
    }

    @Test func `a hub that is killed under load is replaced, and nobody misses anything`() throws {
        for seed in 0..<Self.seeds { #expect(try run([.killHub], seed: seed) == 0) }
    }

    @Test func `a stopped hub, a stopped observer, and lost names alone make no gap`() throws {
        for fault in [Fault.stopHub, .stopObserver, .removeNames, .killObserver] {
            for seed in 0..<Self.seeds { #expect(try run([fault], seed: seed) == 0, "\(fault) \(seed)") }
        }
    }

    @Test func `the posts of a killed poster are delivered, or are in a gap`() throws {
        for seed in 0..<Self.seeds { _ = try run([.killPoster], seed: seed) }
    }

    @Test func `faults in any order leave nothing unaccounted for`() throws {
        for seed in 0..<(2 * Self.seeds) {
            var random = SplitMix64(seed: seed &+ 1_000)
            let faults = (0..<4).compactMap { _ in Fault.allCases.randomElement(using: &random) }
            _ = try run(faults, seed: seed)
        }
    }
}
