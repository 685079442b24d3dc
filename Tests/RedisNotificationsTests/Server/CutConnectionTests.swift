import DistributedNotifications
import Foundation
import RedisNotifications
import TestSupport
import Testing

/// Connections to a server that end after any byte.
@Suite(.serialized) struct CutConnectionTests {
    /// The distance between two places of a cut; 1 in the long form.
    private static let step =
        ProcessInfo.processInfo.environment["RUNLOOPS_STRESS_CUTS"].flatMap(Int.init) ?? 97

    @Test(arguments: CuttingRelay.Direction.allCases, [true, false])
    func `connections that are cut after any byte lose nothing, and make no gap`(
        direction: CuttingRelay.Direction, cutsPoster: Bool
    ) throws {
        let server = try RedisServerProcess()
        var place = 1
        var hasCut = true
        // Beyond the last byte nothing is cut.
        while hasCut {
            let relay = try CuttingRelay(to: server.path, cutting: direction, after: place)
            let near = try server.center()
            let far = try server.center(through: relay.path)
            let (poster, center) = cutsPoster ? (far, near) : (near, far)
            let observer = try Observer(center, name: "place \(place)")
            try poster.post(1...20, as: "place \(place)")
            observer.waitForNumber(20)
            observer.expectAccounted(upTo: 20)
            hasCut = relay.hasCut
            poster.invalidate()
            center.invalidate()
            place += Self.step
        }
        #expect(place > 1_000, "the relay has seen \(place) bytes")
    }
}
