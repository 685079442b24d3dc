import TestSupport
import Testing

@testable import Notifications

/// Explores the protocol of the removal guarantee, step by step.
///
/// The exploration covers every interleaving of threads that call an observation and threads that remove it, on a processor that
/// delays stores. The steps are those of `Observation.call`, `remove` and `settle`, and of the parts of `CallRecord` that they use.
@Suite struct ObservationStateTests {
    @Test func `no call runs when a removal has settled, and each removal settles once`() {
        for calls in [1, 2] {
            for removals in [1, 2] {
                let found = RemovalModel(callers: 2, callsEach: calls, removers: removals).explore()
                #expect(found.failures == [])
                // The minimum shows that the exploration is not cut short.
                #expect(found.stateCount > 1_000)
            }
        }
    }

    @Test(arguments: RemovalModel.Fault.allCases)
    func `each fault in the protocol is found`(fault: RemovalModel.Fault) {
        let found = RemovalModel(callers: 2, callsEach: 2, removers: 1, fault: fault).explore()
        #expect(found.failures != [])
    }

    @Test func `an observation that has finished calls all waiters, earlier and later ones`() {
        let log = Log<String>()
        let observation = Observation(sequence: 0, object: nil, handler: NotificationHandler { _ in })
        observation.whenFinished { log.add("before") }
        #expect(log.entries == [])
        #expect(observation.remove())
        #expect(log.entries == ["before"])
        observation.whenFinished { log.add("after") }
        #expect(log.entries == ["before", "after"])
        #expect(!observation.remove())
    }
}
