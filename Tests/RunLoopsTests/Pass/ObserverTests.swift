import RunLoops
import TestSupport
import Testing

/// The observers of a run's activities, and the order of their calls.
@Suite struct ObserverTests {
    private typealias Observer = RunLoop.Observer
    private typealias Activity = RunLoop.Activity

    private final class Witness: Sendable {}

    private let other = RunLoop.Mode("other")

    private func park(_ loop: RunLoop, _ modes: RunLoop.Mode...) {
        for mode in modes { loop.add(Port<Int>(), forMode: mode) { _ in } }
    }

    // Guarantees: Raw values of modes, activities and run results stay those of Core Foundation.
    @Test func `the activities have Core Foundation's bits`() {
        let activities: [Activity] = [
            .entry, .beforeTimers, .beforeSources, .beforeWaiting, .afterWaiting, .exit, .all,
        ]
        #expect(activities.map(\.rawValue) == [1, 2, 4, 32, 64, 128, 0x0FFF_FFFF])
    }

    @Test func `an observer is told of the moments it asked for, and of no other`() throws {
        try onLoopThread { loop in
            park(loop, .default)
            var told: [Activity] = []
            for activity in [Activity.entry, .beforeSources, [.beforeTimers, .exit]] {
                loop.add(Observer(activities: activity) { told.append($1) }, forMode: .default)
            }
            loop.run(until: .distantPast)
            #expect(told == [.entry, .beforeTimers, .beforeSources, .exit])
        }
    }

    @Test func `the moments about waiting come only in passes that sleep`() throws {
        try onLoopThread { loop in
            park(loop, .default)
            var told: [Activity] = []
            loop.add(Observer(activities: .all) { told.append($1) }, forMode: .default)
            // A pass does not sleep if its deadline has passed or if it has work.
            loop.run(until: .distantPast)
            let source = ManualSource {}
            loop.add(source, forMode: .default)
            source.signal()
            loop.run(mode: .default, before: .distantFuture)
            let busy: [Activity] = [.entry, .beforeTimers, .beforeSources, .exit]
            #expect(told == busy + busy)
            told = []
            loop.add(
                Timer(timeInterval: .milliseconds(1), repeats: false) { _ in loop.stop() }, forMode: .default)
            loop.run()
            let sleeping: [Activity] = [.beforeTimers, .beforeSources, .beforeWaiting, .afterWaiting]
            #expect(told.first == .entry && told.last == .exit)
            // The timer can become due before the loop sleeps.
            #expect(told.count == 4 || Array(told[1...4]) == sleeping)
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func `lower orders first, equal ones in the order of adding`(
        seed: UInt64
    ) throws {
        try onLoopThread { loop in
            park(loop, .default)
            var random = SplitMix64(seed: seed)
            var expected: [(order: Int, number: Int)] = []
            var called: [Int] = []
            for number in 0..<30 {
                let order = Int.random(in: -3...3, using: &random)
                expected.append((order, number))
                let observer = Observer(activities: .entry, order: order) { _, _ in called.append(number) }
                loop.add(observer, forMode: Bool.random(using: &random) ? .default : .common)
            }
            loop.run(until: .distantPast)
            expected.sort { ($0.order, $0.number) < ($1.order, $1.number) }
            #expect(called == expected.map(\.number))
        }
    }

    @Test func `an observer that does not repeat is invalid after its first call`() throws {
        try onLoopThread { loop in
            park(loop, .default)
            var calls = 0
            let observer = Observer(activities: [.beforeTimers, .beforeSources], repeats: false) {
                observer, _ in
                calls += 1
                #expect(observer.isValid)
                loop.run(until: .distantPast)
            }
            loop.add(observer, forMode: .default)
            loop.run(until: .distantPast)
            #expect(calls == 1)
            #expect(!observer.isValid)
            loop.add(observer, forMode: .default)
            loop.run(until: .distantPast)
            #expect(calls == 1)
        }
    }

    @Test func `a run inside an observer does not call it again, but calls others`() throws {
        try onLoopThread { loop in
            park(loop, .default)
            var log: [String] = []
            let outer = Observer(activities: .beforeTimers) { _, _ in
                log.append("in")
                loop.run(until: .distantPast)
                log.append("out")
            }
            loop.add(outer, forMode: .default)
            loop.add(Observer(activities: .beforeTimers) { _, _ in log.append("other") }, forMode: .default)
            loop.run(until: .distantPast)
            loop.run(until: .distantPast)
            #expect(log == ["in", "other", "out", "other", "in", "other", "out", "other"])
        }
    }

    @Test func `an observer that a handler adds is called from the next moment on`() throws {
        try onLoopThread { loop in
            park(loop, .default)
            var log: [String] = []
            let first = Observer(activities: .beforeTimers, repeats: false) { _, _ in
                log.append("first")
                let added = Observer(activities: [.beforeTimers, .beforeSources]) { _, activity in
                    log.append(activity == .beforeTimers ? "timers" : "sources")
                }
                loop.add(added, forMode: .default)
            }
            loop.add(first, forMode: .default)
            loop.run(until: .distantPast)
            loop.run(until: .distantPast)
            #expect(log == ["first", "sources", "timers", "sources"])
        }
    }

    @Test func `an observer that a handler removes or invalidates is not called any more`() throws {
        try onLoopThread { loop in
            park(loop, .default)
            var log: [String] = []
            let removed = Observer(activities: .entry, order: 1) { _, _ in log.append("removed") }
            let invalidated = Observer(activities: .entry, order: 2) { _, _ in log.append("invalidated") }
            let first = Observer(activities: .entry) { observer, _ in
                log.append("first")
                loop.remove(removed, forMode: .default)
                invalidated.invalidate()
                observer.invalidate()
                observer.invalidate()
            }
            for observer in [removed, invalidated, first] { loop.add(observer, forMode: .default) }
            loop.add(Observer(activities: .entry, order: 3) { _, _ in log.append("last") }, forMode: .default)
            loop.run(until: .distantPast)
            #expect(log == ["first", "last"])
            #expect(removed.isValid && !invalidated.isValid && !first.isValid)
            loop.add(removed, forMode: .default)
            loop.run(until: .distantPast)
            #expect(log == ["first", "last", "removed", "last"])
        }
    }

    @Test func `an observer that a handler removes and adds is called from the next moment on`() throws {
        try onLoopThread { loop in
            park(loop, .default)
            var log: [String] = []
            let moved = Observer(activities: [.entry, .beforeTimers], order: 1) { _, activity in
                log.append(activity == .entry ? "entry" : "timers")
            }
            let first = Observer(activities: .entry) { _, _ in
                loop.remove(moved, forMode: .default)
                loop.add(moved, forMode: .default)
            }
            for observer in [first, moved] { loop.add(observer, forMode: .default) }
            loop.run(until: .distantPast)
            #expect(log == ["timers"])
        }
    }

    @Test func `an observer is told of runs in its modes only`() throws {
        try onLoopThread { loop in
            let third = RunLoop.Mode("third")
            park(loop, .default, other, third)
            var modes: [RunLoop.Mode?] = []
            let observer = Observer(activities: .entry) { _, _ in modes.append(loop.currentMode) }
            loop.add(observer, forMode: .default)
            loop.add(observer, forMode: other)
            for mode in [.default, other, third] { loop.run(in: mode, until: .distantPast) }
            loop.remove(observer, forMode: .default)
            for mode in [.default, other, third] { loop.run(in: mode, until: .distantPast) }
            #expect(modes == [.default, other, other])
        }
    }

    @Test func `every run that makes a pass has one entry and one exit, runs inside it too`() throws {
        try onLoopThread { loop in
            park(loop, .default, other)
            var log: [String] = []
            for mode in [RunLoop.Mode.default, other] {
                let observer = Observer(activities: [.entry, .exit]) { _, activity in
                    log.append("\(activity == .entry ? "+" : "-")\(mode == .default ? "default" : "other")")
                }
                loop.add(observer, forMode: mode)
            }
            loop.perform { loop.run(in: RunLoop.Mode("other"), until: .distantPast) }
            loop.run(until: .distantPast)
            #expect(log == ["+default", "+other", "-other", "-default"])
        }
    }

    @Test func `work that an observer gives before the sleep is done instead of sleeping`() throws {
        try onLoopThread { loop in
            park(loop, .default)
            let log = Log<String>()
            let observer = Observer(activities: .beforeWaiting, repeats: false) { _, _ in
                loop.perform {
                    log.add("block")
                    loop.stop()
                }
            }
            loop.add(observer, forMode: .default)
            #expect(loop.run(in: .default) == .stopped)
            #expect(log.entries == ["block"])
        }
    }

    @Test func `a run that an observer leaves with nothing to wait for ends`() throws {
        try onLoopThread { loop in
            let timer = Timer(timeInterval: .seconds(1_000), repeats: false) { _ in }
            loop.add(timer, forMode: .default)
            loop.add(
                Observer(activities: .beforeWaiting) { _, _ in timer.invalidate() }, forMode: .default)
            #expect(loop.run(in: .default, until: .now + .seconds(10)) == .finished)
        }
    }

    @Test func `an invalid observer has let go of its handler`() throws {
        try onLoopThread { loop in
            weak var held: Witness?
            let observer: Observer
            do {
                let witness = Witness()
                held = witness
                observer = Observer(activities: .all) { _, _ in withExtendedLifetime(witness) {} }
            }
            loop.add(observer, forMode: .default)
            #expect(held != nil)
            observer.invalidate()
            #expect(held == nil)
        }
    }
}
