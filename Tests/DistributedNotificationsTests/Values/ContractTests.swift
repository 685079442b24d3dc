import Foundation
import TestSupport
import Testing

@testable import DistributedNotifications

/// The contract of order and completeness, on the values that the program uses, in every order that a seed makes.
struct ContractTests {
    /// The sizes of a world: what is posted, and the room that there is.
    private static let shapes: [(topics: String, kept: Int, queue: Int, ring: Int)] = [
        ("ABAABA", 2, 1, 1), ("AAAA", 1, 1, 1), ("ABABAB", 3, 2, 2), ("BAABAA", 1, 2, 2), ("AABAAB", 9, 9, 9),
    ]

    private static let faults = [
        World.Faults(), World.Faults(hubCrashes: 2, kills: 0, cuts: 1),
        World.Faults(hubCrashes: 0, kills: 0, cuts: 2),
        World.Faults(hubCrashes: 1, kills: 0, cuts: 0), World.Faults(hubCrashes: 0, kills: 0, cuts: 1),
        World.Faults(hubCrashes: 0, kills: 1, cuts: 0), World.Faults(hubCrashes: 0, kills: 0, cuts: 0),
    ]

    /// Faults of two hubs at the same time, and of a hub that forgets.
    private static let rareFaults = [
        World.Faults(hubCrashes: 1, kills: 0, cuts: 1, others: 1),
        World.Faults(hubCrashes: 0, kills: 0, cuts: 2, givenUp: 1),
        World.Faults(hubCrashes: 0, kills: 1, cuts: 1, givenUp: 1),
    ]

    /// The first failure among the walks of some seeds.
    private func firstFailure(seeds: Range<UInt64>, defect: World.Defect?) -> String? {
        let isCommon = defect != nil && defect != .clock && defect != .forgetting
        let choices = isCommon ? Self.faults : Self.faults + Self.rareFaults
        for seed in seeds {
            for shape in Self.shapes {
                let faults = choices[Int(seed) % choices.count]
                var world = World(
                    topics: shape.topics, kept: shape.kept, queue: shape.queue, ring: shape.ring,
                    faults: faults, defect: defect)
                var trace: [String] = []
                if let failure = world.walk(seed: seed, &trace) {
                    return "\(shape) seed \(seed): \(failure)\n\(trace.joined(separator: ", "))\n"
                        + "delivered \(world.delivered) gaps \(world.gaps) begun after \(world.begunAfter ?? 0)"
                }
            }
        }
        return nil
    }

    // Guarantees: An observer gets the notifications of one poster with one name and sender in order, each once.
    // Guarantees: A notification that is missing after the subscription was confirmed is in a gap, before any later notification of
    // its topic.
    // Guarantees: A gap with a known end covers no notification that the observer gets.
    // Guarantees: The end of the hub, or of one connection, alone makes no gap.
    @Test func `every post is delivered or told to be missing, in order and once`() {
        let rounds = ProcessInfo.processInfo.environment["RUNLOOPS_STRESS_ROUNDS"].flatMap(UInt64.init)
        // Each of the faults gets at least 70 seeds with each of the shapes.
        let failure = firstFailure(seeds: 0..<(Self.isLong ? 100_000 : rounds ?? 700), defect: nil)
        #expect(failure == nil, "\(failure ?? "")")
    }

    /// Worlds whose states are few enough to visit them all, with the least number of states; larger ones in the long form.
    private static let small: [(world: World, states: Int)] = {
        func world(_ topics: String, room: Int, _ faults: World.Faults) -> World {
            World(topics: topics, kept: room, queue: room, ring: room, faults: faults)
        }
        let small = [
            (world("AA", room: 1, .init(hubCrashes: 0, kills: 1, cuts: 0)), 20_000),
            (world("A", room: 1, .init(hubCrashes: 1, kills: 1, cuts: 0)), 25_000),
            (world("A", room: 1, .init(hubCrashes: 0, kills: 0, cuts: 1)), 13_000),
        ]
        if !isLong { return small }
        return small + [
            (world("AA", room: 1, .init(hubCrashes: 1, kills: 0, cuts: 0)), 130_000),
            (world("AA", room: 1, .init(hubCrashes: 0, kills: 0, cuts: 1)), 190_000),
            (world("ABA", room: 1, .init(hubCrashes: 0, kills: 0, cuts: 0)), 48_000),
            (world("AA", room: 2, .init(hubCrashes: 1, kills: 0, cuts: 0)), 100_000),
        ]
    }()

    private static let isLong = ProcessInfo.processInfo.environment["RUNLOOPS_LONG"] != nil

    @Test(arguments: small.indices)
    func `in every order of a small world, each post is delivered or told to be missing`(index: Int) {
        let (world, states) = Self.small[index]
        let walk = world.explore()
        #expect(walk.failures == [], "\(walk.trace.map { "\($0)" }.joined(separator: "\n"))")
        // Fewer would mean that the exploration is cut short.
        #expect(walk.stateCount >= states)
    }

    @Test(arguments: World.Defect.allCases)
    func `a defect of the protocol is found`(_ defect: World.Defect) {
        #expect(firstFailure(seeds: 0..<4_000, defect: defect) != nil)
    }
}
