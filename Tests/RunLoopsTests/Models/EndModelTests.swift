import TestSupport
import Testing

/// Explores the end of an input step by step, in every interleaving of the loop's thread and threads that end or remove the input.
///
/// The model shows that no call begins after an end or a removal has returned, that the input is given back once, by its loop's
/// thread as long as that loop runs, and that nothing that was handed over is forgotten.
@Suite struct EndModelTests {
    struct Scenario: Sendable, CustomTestStringConvertible {
        let loops: [Int]
        let scripts: [[EndModel.Operation]]
        /// The minimum number of states, which shows that the exploration is not cut short.
        var leastStateCount = 0

        var testDescription: String { "\(scripts)" }

        func model(_ fault: EndModel.Fault? = nil) -> EndModel {
            EndModel(loops: loops, scripts: scripts, fault: fault)
        }
    }

    static let scenarios = [
        Scenario(loops: [1, 0], scripts: [[.join, .call, .call], [.end]], leastStateCount: 60),
        Scenario(loops: [1, 0], scripts: [[.join, .call, .finish], [.end]], leastStateCount: 60),
        Scenario(loops: [1, 0], scripts: [[.join, .leave, .finish], [.end]], leastStateCount: 40),
        Scenario(loops: [1, 0], scripts: [[.join, .call, .call], [.remove(1)]], leastStateCount: 40),
        Scenario(
            loops: [1, 0], scripts: [[.join, .call, .join, .call, .call], [.remove(1), .remove(1)]],
            leastStateCount: 500),
        Scenario(loops: [1, 0, 0], scripts: [[.join, .call, .end], [.end], [.end]], leastStateCount: 150),
        Scenario(
            loops: [1, 0, 0], scripts: [[.join, .call, .call], [.remove(1)], [.end]], leastStateCount: 400),
        Scenario(
            loops: [1, 0, 0], scripts: [[.join, .call, .finish], [.remove(1)], [.end]], leastStateCount: 300),
        Scenario(
            loops: [1, 2, 0], scripts: [[.join, .leave], [.join, .call], [.end]], leastStateCount: 100),
        Scenario(
            loops: [1, 2, 0], scripts: [[.join, .leave, .finish], [.join, .call, .finish], [.end]],
            leastStateCount: 150),
    ]

    // Guarantees: After an end on any thread has returned, no call of the object's handlers begins, except the report of the end.
    @Test(arguments: scenarios)
    func `in any order, an end stops the calls at once and the loop gives back once`(scenario: Scenario) {
        let walk = scenario.model().explore()
        #expect(walk.failures == [], "\(walk.trace.map { "\($0)" }.joined(separator: "\n"))")
        #expect(walk.stateCount >= scenario.leastStateCount, "\(walk.stateCount)")
    }

    @Test(arguments: EndModel.Fault.allCases)
    func `each fault in the hand-over is found`(fault: EndModel.Fault) {
        #expect(Self.scenarios.contains { !$0.model(fault).explore().failures.isEmpty })
    }
}
