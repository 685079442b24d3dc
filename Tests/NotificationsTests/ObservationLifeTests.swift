import TestSupport
import Testing

@testable import Notifications

/// The life of an observation: every short sequence of events, against the rule in plain words.
@Suite struct ObservationLifeTests {
    private enum Event: CaseIterable { case begin, end, remove }

    /// What the events so far amount to.
    private struct Expected {
        var runs = 0
        var wasRemoved = false
        var finishes = 0

        mutating func answer(_ event: Event) -> ObservationLife.Action {
            switch event {
            case .begin:
                if wasRemoved { return .skip }
                runs += 1
                return .call
            case .end:
                runs -= 1
                return finishIfOver()
            case .remove:
                if wasRemoved { return .nothing }
                wasRemoved = true
                return finishIfOver()
            }
        }

        private mutating func finishIfOver() -> ObservationLife.Action {
            if !wasRemoved || runs > 0 { return .nothing }
            finishes += 1
            return .finish
        }
    }

    @Test func `a removal stops calls at once, and finishes once, with the last call's end`() {
        var sequences = 0
        explore(.active, Expected(), depth: 9, &sequences)
        // A walk that does not walk finds nothing.
        #expect(sequences > 1_000)
    }

    private func explore(
        _ life: ObservationLife, _ expected: Expected, depth: Int, _ sequences: inout Int
    ) {
        #expect(life.isRemoved == expected.wasRemoved)
        #expect(life.runningCalls == expected.runs)
        #expect(expected.finishes == (expected.wasRemoved && expected.runs == 0 ? 1 : 0))
        sequences += 1
        if depth == 0 { return }
        for event in Event.allCases where event != .end || expected.runs > 0 {
            var life = life
            var expected = expected
            let answer = expected.answer(event)
            switch event {
            case .begin: #expect(life.begin() == answer)
            case .end: #expect(life.end() == answer)
            case .remove: #expect(life.remove() == answer)
            }
            // One word in memory is all there is of it.
            #expect(ObservationLife(bits: life.bits) == life)
            explore(life, expected, depth: depth - 1, &sequences)
        }
    }

    @Test func `a great many calls may run at once`() {
        var life = ObservationLife.active
        for _ in 0..<100_000 where life.begin() != .call { Issue.record("a call was refused") }
        #expect(life.runningCalls == 100_000)
        #expect(life.remove() == .nothing)
        for _ in 0..<99_999 where life.end() != .nothing { Issue.record("finished too early") }
        #expect(life.end() == .finish)
    }
}
