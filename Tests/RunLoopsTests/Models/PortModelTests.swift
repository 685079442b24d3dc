import TestSupport
import Testing

/// Explores a port's own mailbox and bell step by step, in every interleaving of senders, a closing thread and one or two loops.
///
/// The model shows that each message is delivered once and in its sender's order, or is destroyed with the port; that no loop
/// sleeps while it has a message or a ring, or keeps a closed port; that no signal is delivered that was not sent; that the node of
/// each signal has one owner at a time, and comes back; and that only one thread at a time accesses the state that the claim
/// guards.
@Suite struct PortModelTests {
    struct Scenario: Sendable, CustomTestStringConvertible {
        let operations: [[PortModel.Operation]]
        let loops: [[PortModel.LoopOperation]]
        var merges = false
        /// The minimum number of states, which shows that the exploration is not cut short.
        var leastStateCount = 0

        var testDescription: String { "\(operations) \(loops)\(merges ? ", merges" : "")" }

        func model(_ fault: PortModel.Fault? = nil) -> PortModel {
            PortModel(operations: operations, loops: loops, merges: merges, fault: fault)
        }
    }

    static let scenarios = [
        Scenario(
            operations: [[.send, .send], [.close]], loops: [[.join, .leave, .join]], leastStateCount: 20_000),
        Scenario(
            operations: [[.send, .send], [.send]], loops: [[.join, .leave, .join]], leastStateCount: 20_000),
        Scenario(
            operations: [[.send, .send], [.close]], loops: [[.join, .run, .end]], leastStateCount: 12_000),
        Scenario(
            operations: [[.pump], [.close]], loops: [[.join, .leave], [.join]], leastStateCount: 50_000),
        Scenario(
            operations: [[.ring, .ring], [.close]], loops: [[.join, .leave, .join]], merges: true,
            leastStateCount: 15_000),
        Scenario(
            operations: [[.notify], [.close]], loops: [[.join, .leave, .join]], merges: true,
            leastStateCount: 15_000),
        Scenario(
            operations: [[.ring, .notify], [.ring]], loops: [[.join, .run, .leave], [.join]], merges: true,
            leastStateCount: 25_000),
    ]

    @Test(arguments: scenarios)
    func `in any order, a port loses nothing, invents nothing, and leaves nothing behind`(
        scenario: Scenario
    ) {
        let walk = scenario.model().explore()
        #expect(walk.failures == [], "\(walk.trace.map { "\($0)" }.joined(separator: "\n"))")
        #expect(walk.stateCount >= scenario.leastStateCount)
    }

    /// Small scenarios, at least one of which reveals each fault.
    static let small = [
        Scenario(operations: [[.send, .send]], loops: [[.join]]),
        Scenario(operations: [[.send, .send]], loops: [[.join, .run]]),
        Scenario(operations: [[.send]], loops: [[.join, .close]]),
        Scenario(operations: [[.send]], loops: [[.join, .end]]),
        Scenario(operations: [[.send]], loops: [[.join, .leave], [.join]]),
        Scenario(operations: [[.pump]], loops: [[.join, .leave, .join]]),
        Scenario(operations: [[.send], [.close]], loops: [[.join, .leave]]),
        Scenario(operations: [[.ring, .ring]], loops: [[.join, .run]], merges: true),
        Scenario(operations: [[.ring]], loops: [[.join, .leave], [.join]], merges: true),
        Scenario(operations: [[.ring], [.close]], loops: [[.join]], merges: true),
        Scenario(operations: [[.notify], [.close]], loops: [[.join]], merges: true),
        Scenario(operations: [[.notify], [.ring]], loops: [[.join, .leave, .join]], merges: true),
    ]

    @Test(arguments: small) func `the small machines are sound`(scenario: Scenario) {
        #expect(scenario.model().explore().failures == [])
    }

    @Test(arguments: PortModel.Fault.allCases)
    func `each fault in a port is found`(fault: PortModel.Fault) {
        #expect(Self.small.contains { !$0.model(fault).explore().failures.isEmpty })
    }

    /// A loop that is about to arm the bell takes any ring for a signal.
    @Test func `a port that rang its own bell at its end would deliver a signal that was not sent`() {
        let scenario = Scenario(operations: [[.notify], [.close]], loops: [[.join]], merges: true)
        #expect(scenario.model().explore().failures == [])
        #expect(scenario.model(.closeRings).explore().failures == ["a signal is delivered that was not sent"])
    }

    /// Between two pushes, the receiver can leave and return, and arm with another signal.
    @Test func `a pump with one place for a signal would lose one`() {
        let scenario = Scenario(operations: [[.pump]], loops: [[.join, .leave, .join]])
        #expect(scenario.model().explore().failures == [])
        #expect(scenario.model(.oneSignalSlot).explore().failures == ["a signal is left"])
    }
}
