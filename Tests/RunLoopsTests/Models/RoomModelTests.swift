import TestSupport
import Testing

/// Explores the room of a port with a limit step by step.
///
/// The exploration covers every interleaving of a receiver, senders of messages and of batches, deadlines and the port's end.
@Suite struct RoomModelTests {
    struct Scenario: Sendable, CustomTestStringConvertible {
        let limit: Int
        let queued: Int
        var handsOut = 8
        let senders: [[RoomModel.Send]]
        var closes = false
        /// The minimum number of states, which shows that the exploration is not cut short.
        var leastStateCount = 0

        var testDescription: String {
            "limit \(limit), queued \(queued), \(senders)\(closes ? ", closes" : "")"
        }

        func model(_ fault: RoomModel.Fault? = nil) -> RoomModel {
            RoomModel(
                limit: limit, queued: queued, handsOut: handsOut, senders: senders, closes: closes,
                fault: fault)
        }
    }

    private static func chain(_ count: Int, _ patience: RoomModel.Patience = .unlimited) -> RoomModel.Send {
        RoomModel.Send(count: count, patience: patience)
    }

    private static func collection(_ count: Int, declared: Int? = nil) -> RoomModel.Send {
        RoomModel.Send(count: count, isChain: false, declared: declared)
    }

    private static let handler = RoomModel.Send(isHandler: true)

    static let scenarios = [
        Scenario(limit: 1, queued: 1, senders: [[chain(1)], [chain(1)]], leastStateCount: 10_000),
        Scenario(
            limit: 2, queued: 2, handsOut: 2, senders: [[chain(2)], [chain(1)]], leastStateCount: 10_000),
        Scenario(
            limit: 1, queued: 1, senders: [[chain(1), chain(1, .none)], [chain(1, .untilDeadline)]],
            leastStateCount: 20_000),
        Scenario(
            limit: 2, queued: 2, handsOut: 1, senders: [[chain(2, .untilDeadline)], [chain(1)]], closes: true,
            leastStateCount: 20_000),
        Scenario(
            limit: 2, queued: 1, senders: [[collection(3)], [chain(1, .none)]], leastStateCount: 30_000),
        Scenario(
            limit: 1, queued: 1, senders: [[handler, chain(1, .none)], [chain(1)]], leastStateCount: 10_000),
        Scenario(
            limit: 1, queued: 1, handsOut: 1, senders: [[handler], [chain(1, .untilDeadline)]], closes: true,
            leastStateCount: 10_000),
    ]

    @Test(arguments: scenarios)
    func `no sender sleeps or is refused while there is room, and no full port accepts`(scenario: Scenario) {
        let walk = scenario.model().explore()
        #expect(walk.failures == [], "\(walk.trace.map { "\($0)" }.joined(separator: "\n"))")
        #expect(walk.stateCount >= scenario.leastStateCount)
    }

    /// Small scenarios, at least one of which reveals each fault.
    static let small = [
        Scenario(limit: 1, queued: 1, senders: [[chain(1)]]),
        Scenario(limit: 1, queued: 0, handsOut: 0, senders: [[chain(1)], [chain(1)]]),
        Scenario(limit: 2, queued: 1, senders: [[chain(2)]]),
        Scenario(limit: 2, queued: 0, senders: [[collection(3)]]),
        Scenario(limit: 2, queued: 0, senders: [[collection(1, declared: 2)]]),
        Scenario(limit: 1, queued: 1, senders: [[chain(1)]], closes: true),
        Scenario(limit: 2, queued: 2, handsOut: 1, senders: [[chain(2)], [chain(1, .none)]]),
        Scenario(limit: 2, queued: 2, handsOut: 1, senders: [[chain(2, .untilDeadline)], [chain(1)]]),
        Scenario(limit: 2, queued: 2, handsOut: 2, senders: [[chain(2)], [chain(1)]]),
        Scenario(limit: 1, queued: 1, senders: [[handler]]),
        Scenario(limit: 1, queued: 1, handsOut: 1, senders: [[handler], [chain(1)]]),
    ]

    @Test(arguments: small) func `the small machines are sound`(scenario: Scenario) {
        #expect(scenario.model().explore().failures == [])
    }

    @Test(arguments: RoomModel.Fault.allCases) func `each fault is found`(fault: RoomModel.Fault) {
        #expect(Self.small.contains { !$0.model(fault).explore().failures.isEmpty })
    }

    @Test func `trusting the count of a collection would lose room for good`() {
        let scenario = Scenario(limit: 2, queued: 0, senders: [[Self.collection(1, declared: 2)]])
        #expect(scenario.model(.declaredCount).explore().failures == ["room is lost, or made of nothing"])
    }
}
