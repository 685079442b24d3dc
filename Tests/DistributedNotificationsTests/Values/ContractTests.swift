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

    /// The first failure among the walks of some seeds.
    private func firstFailure(seeds: Range<UInt64>, defect: World.Defect?) -> String? {
        for seed in seeds {
            for shape in Self.shapes {
                let faults = Self.faults[Int(seed) % Self.faults.count]
                var world = World(
                    seed: seed, topics: shape.topics, kept: shape.kept, queue: shape.queue, ring: shape.ring,
                    faults: faults, defect: defect)
                if let failure = world.walk() {
                    return "\(shape) seed \(seed): \(failure)\n\(world.trace.joined(separator: ", "))\n"
                        + "delivered \(world.delivered) gaps \(world.gaps) begun after \(world.begunAfter ?? 0)"
                }
            }
        }
        return nil
    }

    @Test func `every post is delivered or told to be missing, in order and once`() {
        let long = ProcessInfo.processInfo.environment["RUNLOOPS_LONG"] != nil
        let failure = firstFailure(seeds: 0..<(long ? 100_000 : 2_100), defect: nil)
        #expect(failure == nil, "\(failure ?? "")")
    }

    @Test(arguments: World.Defect.allCases)
    func `a defect of the protocol is found`(_ defect: World.Defect) {
        #expect(firstFailure(seeds: 0..<4_000, defect: defect) != nil)
    }
}
