import TestSupport
import Testing

@testable import RunLoops

/// A value is decided once, and the decision wakes its waiter.
@Suite struct OneShotTests {
    @Test func `the first decision counts`() {
        let value = OneShot<Int>()
        #expect(!value.isDecided)
        #expect(value.decide(1))
        #expect(!value.decide(2))
        #expect(!value.claim())
        #expect(value.isDecided)
        #expect(value.take() == 1)
        #expect(value.isDecided)
        #expect(!value.decide(3))
    }

    @Test func `a claimed decision is settled by the claimant alone`() {
        let value = OneShot<Int>()
        #expect(value.claim())
        #expect(!value.claim())
        #expect(!value.decide(1))
        #expect(!value.isDecided)
        value.settle(2)
        #expect(value.take() == 2)
    }

    @Test func `a thread is woken by the decision, or gives up at its deadline`() throws {
        let value = OneShot<Int>()
        #expect(!value.wait(until: Moment(.now)))
        #expect(!value.wait(until: Moment(.now + .milliseconds(1))))
        let decider = try BareThread { value.decide(1) }
        value.wait()
        #expect(value.wait(until: Moment(.now)))
        #expect(value.take() == 1)
        decider.join()
    }

    @Test func `a task gets the value of the decision, of its deadline or of its cancellation`() async {
        let decided = OneShot<Int>()
        #expect(await decided.value(before: .never, timedOut: 0, cancelled: 0) { decided.decide(1) } == 1)
        let late = OneShot<Int>()
        #expect(await late.value(before: Moment(.now), timedOut: 2, cancelled: 0) {} == 2)
        #expect(!late.decide(1))
        let cancelled = OneShot<Int>()
        let task = Task { await cancelled.value(before: .never, timedOut: 0, cancelled: 3) {} }
        task.cancel()
        #expect(await task.value == 3)
    }

    @Test func `a task that was cancelled before does not begin`() async {
        let value = OneShot<Int>()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await value.value(before: .never, timedOut: 0, cancelled: 1) { Issue.record("it began") }
        }
        task.cancel()
        #expect(await task.value == 1)
    }

    @Test func `neither the deadline nor a cancellation decides what is claimed`() async {
        let value = OneShot<Int>()
        #expect(value.claim())
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await value.value(before: Moment(.now), timedOut: 0, cancelled: 0) { value.settle(1) }
        }
        task.cancel()
        #expect(await task.value == 1)
    }

    /// A value that is too large for the memory of a decision, and one that fits.
    private struct Large: Sendable {
        let probe: Probe
        let padding = InlineArray<12, UInt64>(repeating: 7)
    }

    private final class Probe: Sendable {
        private let ends: Log<Int>
        init(_ ends: Log<Int>) { self.ends = ends }
        deinit { ends.add(1) }
    }

    @Test func `a value of any size is destroyed once, whether it is taken or not`() {
        let ends = Log<Int>()
        do {
            let (small, large) = (OneShot<Probe>(), OneShot<Large>())
            #expect(small.decide(Probe(ends)) && large.decide(Large(probe: Probe(ends))))
            let taken = large.take()
            #expect(taken.padding[11] == 7)
            _ = small.take()
            withExtendedLifetime(taken) {}
        }
        #expect(ends.entries.count == 2)
        do {
            let (small, large) = (OneShot<Probe>(), OneShot<Large>())
            #expect(small.decide(Probe(ends)) && large.decide(Large(probe: Probe(ends))))
            #expect(!small.decide(Probe(ends)))
            #expect(ends.entries.count == 3)
        }
        #expect(ends.entries.count == 5)
        _ = OneShot<Large>()
    }

    @Test func `of many threads that decide, one does`() throws {
        for _ in 0..<200 {
            let (value, winners) = (OneShot<Int>(), Log<Int>())
            let threads = try Threads(3) { number in
                if value.decide(number) { winners.add(number) }
            }
            value.wait()
            try threads.join()
            #expect(winners.entries == [value.take()])
        }
    }
}
