import Foundation
import TestExpectations
import TestSupport
import Testing

/// Processes that are killed and stopped while they post, observe and serve.
@Suite(.serialized) struct FleetTests {
    private enum Fault: CaseIterable {
        case killHub, killPoster, killObserver, stopObserver, stopHub, removeNames, twoHubs
    }

    /// The seeds of each fault: `RUNLOOPS_STRESS_FLEET` is their number, and `RUNLOOPS_STRESS_FLEET_SEED` is the first one.
    private static let seeds: Range<UInt64> = {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["RUNLOOPS_STRESS_FLEET_SEED"].flatMap(UInt64.init) ?? 0
        return first..<(first + (environment["RUNLOOPS_STRESS_FLEET"].flatMap(UInt64.init) ?? 2))
    }()

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
        let gaps = try check(fleet, "\(faults), seed \(seed)")
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
        case .removeNames: removeNames(of: fleet)
        case .twoHubs:
            // While the first hub is stopped, a process that finds no name serves another one.
            let isAlive = fleet.members[hub].isAlive
            if isAlive { fleet.send(SIGSTOP, to: hub) }
            removeNames(of: fleet)
            #expect(fleet.wait(for: "confirmed", from: fleet.start("observe")))
            if isAlive { fleet.send(SIGCONT, to: hub) }
        }
    }

    private func removeNames(of fleet: Fleet) {
        for file in (try? fleet.directory.files()) ?? [] {  // Safe: the kernel reads the string.
            _ = unsafe unlink(fleet.directory.path + "/" + file)
        }
    }

    /// Checks all observers, as soon as everything is accounted for.
    private func check(_ fleet: Fleet, _ label: String) throws -> Int {
        let posters = fleet.members.lastIndex { $0.role == "post" } ?? 0
        let deadline = ContinuousClock.now + .seconds(40)
        while true {
            var checker = Checker(fleet)
            let failures = fleet.living("observe").compactMap {
                checker.failure(of: fleet.lines(of: $0), isComplete: true, isLate: $0 > posters)
            }
            if failures.isEmpty {
                #expect(
                    checker.deliveredCount > 0 || fleet.living("observe").isEmpty
                        || fleet.living("post").isEmpty)
                return checker.gapCount
            }
            if ContinuousClock.now > deadline {
                Issue.record("\(failures): \(label)")
                return checker.gapCount
            }
            usleep(20_000)
        }
    }

    // Guarantees: The end of the hub, or of one connection, alone makes no gap.
    @Test func `a hub that is killed under load is replaced, and nobody misses anything`() throws {
        for seed in Self.seeds { #expect(try run([.killHub], seed: seed) == 0) }
    }

    @Test func `a stopped hub, a stopped observer, and lost names alone make no gap`() throws {
        for fault in [Fault.stopHub, .stopObserver, .removeNames, .killObserver] {
            for seed in Self.seeds { #expect(try run([fault], seed: seed) == 0, "\(fault) \(seed)") }
        }
    }

    @Test func `two hubs at the same time leave nothing unaccounted for`() throws {
        for seed in Self.seeds { _ = try run([.twoHubs], seed: seed) }
    }

    // Guarantees: The posts of a killed poster are delivered, or are in a gap, if an engine had reported the poster before.
    @Test func `the posts of a killed poster are delivered, or are in a gap`() throws {
        for seed in Self.seeds { _ = try run([.killPoster], seed: seed) }
    }

    @Test func `what a killed poster had numbered and not sent is in a gap up to its last number`() throws {
        let fleet = try Fleet()
        let hub = fleet.start("hub")
        #expect(fleet.wait(for: "serves", from: hub))
        let observer = fleet.start("observe")
        #expect(fleet.wait(for: "confirmed", from: observer))
        let poster = fleet.start("large", "100")
        #expect(fleet.wait(for: "connected", from: poster))
        // The socket of a stopped hub has room for a few of the large posts.
        fleet.send(SIGSTOP, to: hub)
        fleet.send(SIGUSR1, to: poster)
        #expect(fleet.wait(for: "posted", from: poster))
        fleet.kill9(poster)
        fleet.send(SIGCONT, to: hub)
        // The hub may have had no room for some of the posts that it read at once; they are in gaps of their own.
        var told: [ClosedRange<Int>] = []
        waitUntil("the observer is told of the last number") {
            told = fleet.lines(of: observer).compactMap { line in
                let numbers = line.dropFirst(2).compactMap { Int($0) }
                guard let from = numbers.first, line[0] == "note" || line[0] == "gap" else { return nil }
                return from...(line[0] == "gap" ? numbers[1] : from)
            }
            return told.reduce(0) { $0 + $1.count } >= 100
        }
        #expect(told.flatMap(Array.init).sorted() == Array(2...101))
        let lines = fleet.lines(of: observer)
        #expect(lines.count { $0.first == "note" } < 50)
        #expect(lines.contains { $0.first == "gap" && $0[3...4] == ["101", "posterEnded"] })
        try fleet.end()
    }

    // Guarantees: A notification that is missing after the subscription was confirmed is in a gap, before any later notification of
    // its topic.
    @Test func `faults in any order leave nothing unaccounted for`() throws {
        for seed in (2 * Self.seeds.lowerBound)..<(2 * Self.seeds.upperBound) {
            var random = SplitMix64(seed: seed &+ 1_000)
            let faults = (0..<4).compactMap { _ in Fault.allCases.randomElement(using: &random) }
            _ = try run(faults, seed: seed)
        }
    }
}
