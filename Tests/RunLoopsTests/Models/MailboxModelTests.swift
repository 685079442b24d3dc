import TestSupport
import Testing

/// Explores the waking protocol step by step, in every interleaving of two senders and a loop.
///
/// The model shows that no loop sleeps while it has a message, that each message is delivered once and in its sender's order or is
/// refused, that no stop and no ring is lost, that no thread writes to a closed descriptor, and that all references are released.
@Suite struct MailboxModelTests {
    /// The operations of two senders, and the number of reachable states.
    struct Scenario: Sendable, CustomTestStringConvertible {
        let scripts: [[MailboxModel.Operation]]
        var endsAtStop = false
        let stateCount: Int

        var testDescription: String { "\(scripts)" }

        var model: MailboxModel { MailboxModel(scripts: scripts, endsAtStop: endsAtStop) }
    }

    static let scenarios = [
        Scenario(scripts: [[.send, .send, .send], [.send, .send]], stateCount: 63_595),
        Scenario(scripts: [[.send, .send], [.send, .end]], stateCount: 28_729),
        Scenario(scripts: [[.send, .stop], [.send, .send]], endsAtStop: true, stateCount: 28_729),
        Scenario(scripts: [[.stop, .wakeUp, .stop], [.send, .stop]], stateCount: 34_045),
        Scenario(scripts: [[.ring, .ring, .ring], [.ring, .send]], stateCount: 43_662),
        Scenario(scripts: [[.nudge, .ring], [.nudge, .send]], stateCount: 36_380),
        Scenario(scripts: [[.ring, .ring], [.send, .end]], stateCount: 42_271),
        Scenario(scripts: [[.ring, .nudge], [.ring, .stop]], endsAtStop: true, stateCount: 55_780),
    ]

    @Test(arguments: scenarios)
    func `in any order, no message is lost, doubled, overtaken or touched after its end`(
        scenario: Scenario
    ) {
        let walk = scenario.model.explore()
        #expect(walk.failures == [], "\(walk.trace.map { "\($0)" }.joined(separator: "\n"))")
        // The number of states when the model was last changed, so that the model cannot shrink by mistake.
        #expect(walk.stateCount == scenario.stateCount)
    }

    /// Short scenarios, at least one of which reveals each fault.
    static let short: [[[MailboxModel.Operation]]] = [
        [[.send], [.end]], [[.stop], [.stop]], [[.ring], [.end]], [[.send, .send], [.send]],
        [[.ring, .ring], [.ring]], [[.nudge, .ring], [.nudge]],
    ]

    @Test(arguments: MailboxModel.Fault.allCases)
    func `each fault in the protocol is found`(fault: MailboxModel.Fault) {
        let isFound = Self.short.contains {
            !MailboxModel(scripts: $0, fault: fault).explore().failures.isEmpty
        }
        #expect(isFound)
    }
}
