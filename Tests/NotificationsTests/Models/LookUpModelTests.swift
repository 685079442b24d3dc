import TestSupport
import Testing

/// Explores the look-up of a post, and the replacement of the list that it reads, step by step.
///
/// The exploration covers every order of readers and writers, on a processor that delays stores.
@Suite struct LookUpModelTests {
    struct Scenario: Sendable, CustomTestStringConvertible {
        let readers: [Int]
        let writers: [[LookUpModel.Change]]
        /// The minimum number of states, which shows that the exploration is not cut short.
        let leastStateCount: Int

        var testDescription: String { "\(readers) \(writers)" }
    }

    static let scenarios = [
        Scenario(readers: [2], writers: [[.add, .add, .add, .forget]], leastStateCount: 4_000),
        Scenario(readers: [1], writers: [[.add, .forget], [.add, .rebuild]], leastStateCount: 50_000),
        Scenario(readers: [1, 1], writers: [[.add, .forget]], leastStateCount: 80_000),
    ]

    @Test(arguments: scenarios)
    func `nothing is read after its end, and every post sees the observations registered before it`(
        scenario: Scenario
    ) {
        let walk = LookUpModel(readers: scenario.readers, writers: scenario.writers).explore()
        #expect(walk.failures == [], "\(walk.trace.map { "\($0)" }.joined(separator: "\n"))")
        #expect(walk.stateCount >= scenario.leastStateCount)
    }

    /// Small machines, one of which at least reveals each fault.
    static let small: [LookUpModel] = [
        LookUpModel(readers: [1], writers: [[.add, .forget]]),
        LookUpModel(readers: [1], writers: [[.add, .rebuild]]),
        LookUpModel(readers: [1], writers: [[.add, .add]]),
        LookUpModel(readers: [1], writers: [[.add], [.add]]),
        LookUpModel(readers: [1, 1], writers: [[.add, .forget]]),
    ]

    @Test(arguments: LookUpModel.Fault.allCases)
    func `each fault in the protocol is found`(fault: LookUpModel.Fault) {
        let isFound = Self.small.contains {
            var model = $0
            model.fault = fault
            return !model.explore().failures.isEmpty
        }
        #expect(isFound)
    }
}
