import RunLoops
import Synchronization
import TestSupport
import Testing

@testable import Notifications

/// Notifications are delivered on the thread of a loop, whichever thread posts them.
@Suite struct RedirectorTests {
    private static let tick = Notification.Name("tick")

    /// Runs the loop in a mode until all notifications are delivered.
    private func deliverAll(on loop: RunLoop, in mode: RunLoop.Mode = .default) { loop.run(in: mode) }

    @Test func `a removal on the loop's thread discards waiting notifications`() throws {
        let center = NotificationCenter()
        let log = Log<Int>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let token = center.addObserver(forName: Self.tick, on: loop) { _ in log.add(1) }
            try poster.runLoop.performAndWait { for _ in 0..<10 { center.post(name: Self.tick) } }
            token.remove()
            deliverAll(on: loop)
            poster.stop()
            poster.join()
        }
        #expect(log.entries.isEmpty)
    }

    // Guarantees: Notifications that one thread posts reach each observer on a loop in that order, the posts of the loop's own
    // thread included.
    @Test func `a post on the loop's own thread is delivered at once, unless another notification waits`()
        throws
    {
        let center = NotificationCenter()
        let log = Log<String>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let token = loop.addObserver(forName: Self.tick, in: center) { note in
                log.add(note.userInfo["text"] as? String ?? "")
            }
            center.post(name: Self.tick, userInfo: ["text": "own, at once"])
            log.add("posted")
            try poster.runLoop.performAndWait { center.post(name: Self.tick, userInfo: ["text": "other"]) }
            center.post(name: Self.tick, userInfo: ["text": "own, in turn"])
            log.add("queued")
            deliverAll(on: loop)
            token.remove()
            poster.stop()
            poster.join()
        }
        #expect(log.entries == ["own, at once", "posted", "queued", "other", "own, in turn"])
    }

    @Test func `notifications wait while the loop runs in other modes`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        let custom = RunLoop.Mode("custom")
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let usual = center.addObserver(forName: Self.tick, on: loop) { _ in log.add("common") }
            let special = center.addObserver(forName: Self.tick, on: loop, inModes: [custom]) { _ in
                log.add("custom")
            }
            try poster.runLoop.performAndWait { center.post(name: Self.tick) }
            deliverAll(on: loop, in: custom)
            log.add("custom mode has run")
            deliverAll(on: loop)
            usual.remove()
            special.remove()
            poster.stop()
            poster.join()
        }
        #expect(log.entries == ["custom", "custom mode has run", "common"])
    }

    // Guarantees: An observer with a capacity never holds more notifications than may wait, whether the loop runs or not.
    @Test(arguments: [NotificationCenter.Capacity.Policy.dropOldest, .dropNewest])
    func `a bounded observer gets as many as may wait, and drops are counted`(
        policy: NotificationCenter.Capacity.Policy
    ) throws {
        let center = NotificationCenter()
        let log = Log<Int>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let token = center.addObserver(forName: Self.tick, on: loop, capacity: .bounded(3, policy)) {
                note in
                log.add(note.userInfo["number"] as? Int ?? -1)
            }
            try poster.runLoop.performAndWait {
                for number in 0..<10 { center.post(name: Self.tick, userInfo: ["number": number]) }
            }
            deliverAll(on: loop)
            #expect(
                token.statistics
                    == ObservationToken.Statistics(delivered: 3, dropped: 7, undelivered: 0))
            token.remove()
            poster.stop()
            poster.join()
        }
        #expect(log.entries == (policy == .dropOldest ? [7, 8, 9] : [0, 1, 2]))
    }

    @Test func `a poster waits for room, and nothing is lost`() throws {
        let center = NotificationCenter()
        let log = Log<Int>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let token = center.addObserver(
                forName: Self.tick, on: loop, capacity: .bounded(1, .block(atMost: .seconds(60)))
            ) { note in
                log.add(note.userInfo["number"] as? Int ?? -1)
                if log.entries.count == 100 { loop.stop() }
            }
            poster.runLoop.perform {
                for number in 0..<100 { center.post(name: Self.tick, userInfo: ["number": number]) }
            }
            loop.add(Port<Void>(), forMode: .default) {}
            loop.run(until: .now + .seconds(60))
            #expect(
                token.statistics
                    == ObservationToken.Statistics(delivered: 100, dropped: 0, undelivered: 0))
            token.remove()
            poster.stop()
            poster.join()
        }
        #expect(log.entries == Array(0..<100))
    }

    @Test func `a poster on the loop's own thread does not wait for room`() throws {
        let center = NotificationCenter()
        let log = Log<Int>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let token = center.addObserver(
                forName: Self.tick, on: loop, capacity: .bounded(1, .block(atMost: .seconds(60)))
            ) { _ in log.add(1) }
            try poster.runLoop.performAndWait { center.post(name: Self.tick) }
            center.post(name: Self.tick)
            deliverAll(on: loop)
            token.remove()
            poster.stop()
            poster.join()
        }
        #expect(log.entries == [1, 1])
    }

    @Test func `of notifications that match the first is delivered`() throws {
        let center = NotificationCenter()
        let log = Log<Int>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let token = center.addObserver(forName: nil, on: loop, capacity: .coalescing(.onName)) { note in
                log.add(note.userInfo["number"] as? Int ?? -1)
            }
            try poster.runLoop.performAndWait {
                for number in 0..<10 {
                    center.post(name: .init("name \(number % 2)"), userInfo: ["number": number])
                }
            }
            deliverAll(on: loop)
            #expect(
                token.statistics
                    == ObservationToken.Statistics(delivered: 2, dropped: 0, undelivered: 0))
            token.remove()
            poster.stop()
            poster.join()
        }
        #expect(log.entries == [0, 1])
    }

    @Test func `a poster that waits continues when every loop has delivered`() throws {
        let center = NotificationCenter()
        let targets = try (0..<3).map { try RunLoopThread(name: "target \($0)") }
        let count = Atomic64()
        let tokens = targets.map { target in
            center.addObserver(forName: Self.tick, on: target.runLoop) { _ in count.add() }
        }
        for round in 1...100 {
            try center.postAndWait(Notification(name: Self.tick))
            #expect(count.value == 3 * round)
        }
        for token in tokens { token.remove() }
        for target in targets { target.stop() }
        for target in targets { target.join() }
    }

    @Test func `a poster waits until the deadline or a loop's end, and not for itself`() throws {
        let center = NotificationCenter()
        try onLoopThread { loop in
            let other = try RunLoopThread(name: "other")
            let token = center.addObserver(forName: Self.tick, on: loop) { _ in }
            other.runLoop.perform { center.post(name: Self.tick) }
            try other.runLoop.performAndWait {}
            // A notification already waits for this loop, so this thread's post would wait behind it.
            #expect(throws: PerformError(.wouldDeadlock)) {
                try center.postAndWait(Notification(name: Self.tick))
            }
            _ = try other.runLoop.performAndWait {
                #expect(throws: PerformError(.timedOut)) {
                    try center.postAndWait(Notification(name: Self.tick), before: .distantPast)
                }
            }
            token.remove()
            other.stop()
            other.join()
        }
        let ended = try RunLoopThread(name: "ended")
        let token = center.addObserver(forName: Self.tick, on: ended.runLoop) { _ in }
        ended.stop()
        ended.join()
        #expect(throws: PerformError(.loopEnded)) { try center.postAndWait(Notification(name: Self.tick)) }
        #expect(token.statistics?.undelivered == 1)
    }

    @Test func `a handler is released on its loop's thread`() throws {
        let center = NotificationCenter()
        let log = Log<Bool>()
        let target = try RunLoopThread(name: "target")
        let loop = target.runLoop
        let token = try loop.performAndWait {
            let confined = ExclusivityUnchecked(loop, log)
            return loop.addObserver(forName: Self.tick, in: center) { _ in confined.use() }
        }
        token.remove()
        try loop.performAndWait {}
        #expect(log.entries == [true])
        target.stop()
        target.join()
    }

    /// An object that logs the thread on which it is destroyed.
    private final class ExclusivityUnchecked {
        private let loop: RunLoop
        private let log: Log<Bool>
        init(_ loop: RunLoop, _ log: Log<Bool>) {
            self.loop = loop
            self.log = log
        }
        func use() {}
        deinit { log.add(loop.isCurrent) }
    }

    private final class Atomic64: Sendable {
        private let count = Atomic<Int>(0)
        var value: Int { count.load(ordering: .relaxed) }
        func add() { count.add(1, ordering: .relaxed) }
    }
}
