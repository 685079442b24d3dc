import TestSupport
import Testing

/// Explores a port set step by step, in every interleaving of threads that receive, send, close, add and remove.
@Suite struct PortSetModelTests {
    struct Scenario: Sendable, CustomTestStringConvertible {
        let scripts: [[PortSetModel.Operation]]
        var ports = [false]
        var members = [0]
        var tellsEnd = true
        /// The minimum number of states, which shows that the exploration is not cut short.
        var leastStateCount = 0

        var testDescription: String { "\(scripts), \(ports)" }

        func model(_ fault: PortSetModel.Fault? = nil) -> PortSetModel {
            PortSetModel(scripts: scripts, ports: ports, members: members, tellsEnd: tellsEnd, fault: fault)
        }
    }

    static let scenarios = [
        Scenario(
            scripts: [[.receive, .receive], [.receiveBeforeDeadline], [.send(0), .send(0)]],
            leastStateCount: 3_700),
        Scenario(
            scripts: [[.receive, .receive], [.send(0), .send(0)], [.remove(0), .add(0)]],
            leastStateCount: 4_700),
        Scenario(
            scripts: [[.receive], [.receiveBeforeDeadline], [.send(0)], [.close(0)]], leastStateCount: 20_000),
        Scenario(
            scripts: [[.receive, .receive], [.send(0), .send(0)], [.close(0)]], ports: [false, false],
            members: [0, 1], leastStateCount: 4_000),
        Scenario(
            scripts: [[.receive], [.send(0)], [.close(0)], [.add(0)]], members: [], leastStateCount: 3_000),
        Scenario(
            scripts: [[.receive], [.receive], [.send(0)], [.send(1)]], ports: [false, false],
            members: [0, 1],
            leastStateCount: 3_100),
        Scenario(
            scripts: [[.receive, .receive], [.ring(0), .nudge(0)], [.close(0)]], ports: [true],
            leastStateCount: 3_000),
    ]

    @Test(arguments: scenarios)
    func `no receiver sleeps beside a message, an end, or an empty set`(scenario: Scenario) {
        let walk = scenario.model().explore()
        #expect(walk.failures == [], "\(walk.trace.map { "\($0)" }.joined(separator: "\n"))")
        #expect(walk.stateCount >= scenario.leastStateCount)
    }

    /// Small scenarios, at least one of which reveals each fault.
    static let small = [
        Scenario(scripts: [[.receive, .receive], [.send(0), .send(0)]]),
        Scenario(scripts: [[.receive], [.receive], [.send(0), .send(0)]]),
        Scenario(scripts: [[.receive], [.send(0), .send(0)], [.remove(0)]]),
        Scenario(scripts: [[.receive], [.send(0)], [.add(0)]], members: []),
        Scenario(scripts: [[.receive], [.ring(0), .ring(0)]], ports: [true]),
        Scenario(scripts: [[.receive], [.send(0)], [.remove(0), .add(0)]]),
        Scenario(scripts: [[.receive], [.receiveBeforeDeadline], [.send(0)]]),
        Scenario(scripts: [[.receive], [.receive], [.close(0)]]),
        Scenario(scripts: [[.receive], [.send(0)], [.close(0)]]),
        Scenario(scripts: [[.receive], [.send(0)], [.close(0)]], tellsEnd: false),
        Scenario(scripts: [[.receive], [.nudge(0)], [.close(0)]], ports: [true]),
    ]

    @Test(arguments: small) func `the small machines are sound`(scenario: Scenario) {
        #expect(scenario.model().explore().failures == [])
    }

    @Test(arguments: PortSetModel.Fault.allCases)
    func `each fault in a set is found`(fault: PortSetModel.Fault) {
        #expect(Self.small.contains { !$0.model(fault).explore().failures.isEmpty })
    }

    @Test func `a port that rang its own bell at its end would deliver to a set a signal that was not sent`()
    {
        let scenario = Scenario(scripts: [[.receive], [.nudge(0)], [.close(0)]], ports: [true])
        #expect(scenario.model(.closeRings).explore().failures == ["a signal is received that was not sent"])
    }
}
