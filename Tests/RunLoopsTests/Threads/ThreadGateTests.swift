import TestSupport
import Testing

@testable import RunLoops

/// Waits at a gate, whose condition variable uses another clock than the deadline.
@Suite struct ThreadGateTests {
    @Test func `a deadline that has passed leaves nothing to wait for`() {
        let now = Moment(nanoseconds: 1_000)
        #expect(ThreadGate.waitLength(until: now, at: now) == nil)
        #expect(ThreadGate.waitLength(until: Moment(nanoseconds: 999), at: now) == nil)
        #expect(ThreadGate.waitLength(until: Moment(nanoseconds: .min), at: now) == nil)
    }

    @Test func `a wait is as long as the deadline is away, or the longest one`() {
        let now = Moment(nanoseconds: 1_000)
        #expect(ThreadGate.waitLength(until: now.advanced(by: 1), at: now) == 1)
        for length in [ThreadGate.longestWait, ThreadGate.longestWait + 1, .max] {
            #expect(ThreadGate.waitLength(until: now.advanced(by: length), at: now) == ThreadGate.longestWait)
        }
        let past = Moment(nanoseconds: .min)
        #expect(ThreadGate.waitLength(until: Moment(nanoseconds: .max), at: past) == ThreadGate.longestWait)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `a thread goes on within a second after a machine sleep in which its deadline has passed`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        let hour: Int64 = 3_600_000_000_000
        let deadline = Moment(nanoseconds: .random(in: 1...hour, using: &random))
        let sleepStart = Int64.random(in: 0...hour, using: &random)
        let sleepLength = Int64.random(in: 0...hour, using: &random)
        // While the machine is suspended, the clock of the condition stops, and the clock of the deadline does not.
        var conditionTime: Int64 = 0
        var now: Moment {
            Moment(nanoseconds: conditionTime >= sleepStart ? conditionTime + sleepLength : conditionTime)
        }
        while let length = ThreadGate.waitLength(until: deadline, at: now) { conditionTime += length }
        #expect(now >= deadline)
        let passed =
            deadline.nanoseconds <= sleepStart
            ? deadline.nanoseconds : max(sleepStart, deadline.nanoseconds - sleepLength)
        #expect(conditionTime - passed <= ThreadGate.longestWait)
    }

    @Test func `a wait that is longer than the longest one does not end early`() {
        let deadline = ContinuousClock.now + .nanoseconds(ThreadGate.longestWait) + .milliseconds(5)
        #expect(!ThreadGate().wait(until: deadline))
        #expect(ContinuousClock.now >= deadline)
    }
}
