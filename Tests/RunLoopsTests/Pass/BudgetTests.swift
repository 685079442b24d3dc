import Testing

@testable import RunLoops

/// The maximum number of messages that a pass serves before it checks the other inputs again.
@Suite struct BudgetTests {
    @Test func `a budget is spent after so many messages`() {
        var budget = Budget()
        var spent = 0
        while budget.spend(now: { Moment(nanoseconds: 1) }) { spent += 1 }
        #expect(spent == Budget.messages)
        let more = budget.spend(now: { Moment(nanoseconds: 1) })
        #expect(!more)
    }

    @Test func `a lone message costs no look at the clock`() {
        var budget = Budget()
        var readings = 0
        let spent = budget.spend {
            readings += 1
            return Moment(nanoseconds: 1)
        }
        #expect(spent)
        #expect(readings == 0)
    }

    @Test func `slow messages end the budget when its time is over`() {
        var budget = Budget()
        var clock: Int64 = 1_000
        var spent = 0
        while budget.spend(now: { Moment(nanoseconds: clock) }) {
            spent += 1
            clock += 100_000
        }
        // The clock is first read before the second message, which starts the time. The time is over at the third reading.
        #expect(spent == 4)
    }

    @Test func `the end of the time itself is too late`() {
        var budget = Budget()
        let spent = [0, 0, Budget.nanoseconds].map { now in
            budget.spend(now: { Moment(nanoseconds: now) })
        }
        #expect(spent == [true, true, false])
    }

    @Test func `quick messages read the clock ever less often, and often enough`() {
        var budget = Budget()
        var readings: [Int] = []
        var spent = 0
        while budget.spend(now: {
            readings.append(spent)
            return Moment(nanoseconds: 1)
        }) { spent += 1 }
        #expect(readings == [1, 2, 4, 8, 16, 32, 64, 96])
    }
}
