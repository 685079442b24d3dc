import RunLoops
import TestSupport
import Testing

@testable import Notifications

/// Capacities of observers, and the counts of drops.
@Suite struct RedirectedCapacityTests {
    private typealias Capacity = NotificationCenter.Capacity

    // Guarantees: Notifications that an observer with a capacity drops are counted, in ``ObservationToken/Statistics/dropped``.
    @Test(arguments: [
        NotificationCenter.Capacity.Policy.dropOldest, .dropNewest, .block(atMost: .microseconds(50)),
        .block(atMost: .seconds(60)), .block(atMost: .zero),
    ])
    func `from many posters, what was posted is delivered or counted as dropped`(
        policy: NotificationCenter.Capacity.Policy
    ) throws {
        let (posterCount, perPoster) = (4, 2_000)
        let center = NotificationCenter()
        let target = try RunLoopThread(name: "target")
        let loop = target.runLoop
        let disorder = Shared()
        let calls = Shared()
        let token = try loop.performAndWait {
            var last = [Int](repeating: -1, count: posterCount)
            return loop.addObserver(forName: .a, in: center, capacity: .bounded(4, policy)) { note in
                let poster = note.userInfo["poster"] as? Int ?? 0
                let number = note.userInfo["number"] as? Int ?? -1
                if number <= last[poster] { disorder.increment() }
                last[poster] = number
                calls.increment()
            }
        }
        try Threads(posterCount) { poster in
            for number in 0..<perPoster {
                center.post(name: .a, userInfo: ["poster": poster, "number": number])
            }
        }.join()
        try loop.performAndWait {}
        let counts = try #require(token.statistics)
        #expect(counts.delivered == calls.count)
        #expect(counts.delivered + counts.dropped == posterCount * perPoster)
        #expect(counts.undelivered == 0)
        #expect(disorder.count == 0)
        if policy == .block(atMost: .seconds(60)) { #expect(counts.dropped == 0) }
        token.remove()
        target.stop()
        target.join()
    }

    @Test func `a poster waits for the given time, and then drops its own notification`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let token = center.addObserver(
                forName: .a, on: loop, capacity: .bounded(2, .block(atMost: .milliseconds(20)))
            ) { log.add($0.text) }
            try poster.runLoop.performAndWait {
                for text in ["1", "2"] { center.post(Notification(.a, text)) }
                let start = ContinuousClock.now
                for text in ["3", "4"] { center.post(Notification(.a, text)) }
                #expect(ContinuousClock.now - start >= .milliseconds(40))
            }
            loop.run(in: .default)
            #expect(token.statistics == .init(delivered: 2, dropped: 2, undelivered: 0))
            // There is room again.
            try poster.runLoop.performAndWait { center.post(Notification(.a, "5")) }
            loop.run(in: .default)
            #expect(log.entries == ["1", "2", "5"])
            token.remove()
            poster.stop()
            poster.join()
        }
    }

    @Test func `a handler that posts to its own loop's full observers does not wait, and drops none`()
        throws
    {
        let center = NotificationCenter()
        let log = Log<String>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let token = center.addObserver(
                forName: nil, on: loop, capacity: .bounded(1, .block(atMost: .seconds(3_600)))
            ) { note in
                log.add(note.text)
                guard note.text == "first" else { return }
                for number in 0..<100 { center.post(Notification(.b, "\(number)")) }
            }
            // Another notification waits, so the handler's posts are queued behind it.
            let other = center.addObserver(forName: .a, on: loop) { _ in log.add("other") }
            try poster.runLoop.performAndWait { center.post(Notification(.a, "first")) }
            loop.run(in: .default)
            #expect(token.statistics == .init(delivered: 101, dropped: 0, undelivered: 0))
            for token in [token, other] { token.remove() }
            poster.stop()
            poster.join()
        }
        #expect(log.entries == ["first", "other"] + (0..<100).map(String.init))
    }

    @Test func `a poster that waits for room continues when the observer is removed`()
        throws
    {
        let center = NotificationCenter()
        let calls = Shared()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let token = center.addObserver(
                forName: .a, on: loop, capacity: .bounded(1, .block(atMost: .seconds(3_600)))
            ) { _ in calls.increment() }
            let isFull = Gate()
            poster.runLoop.perform {
                center.post(name: .a)
                isFull.open()
                center.post(name: .a)
            }
            #expect(isFull.wait())
            token.removeAndWait()
            try poster.runLoop.performAndWait {}
            loop.run(in: .default)
            #expect(calls.count == 0)
            poster.stop()
            poster.join()
        }
    }

    // Guarantees: An observer with a capacity never holds more notifications than may wait, whether the loop runs or not.
    @Test func `of notifications that match one waits, and one more once its handler is called`()
        throws
    {
        let center = NotificationCenter()
        let log = Log<String>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let feed = Feed()
            let post = { @Sendable (texts: [String]) in
                for text in texts {
                    center.post(Notification(.a, text))
                    center.post(Notification(.a, "feed \(text)", object: feed))
                }
            }
            let token = center.addObserver(
                forName: .a, on: loop, capacity: .coalescing([.onName, .onSender])
            ) {
                note in
                log.add(note.text)
                guard note.text == "1" else { return }
                do { try poster.runLoop.performAndWait { post(["3", "4"]) } } catch { Issue.record(error) }
            }
            try poster.runLoop.performAndWait { post(["1", "2"]) }
            loop.run(in: .default)
            // The first notification of the other sender still waited when the handler was called.
            #expect(token.statistics == .init(delivered: 3, dropped: 0, undelivered: 0))
            token.remove()
            poster.stop()
            poster.join()
        }
        #expect(log.entries == ["1", "feed 1", "3"])
    }

    @Test func `an observer that is full drops for itself alone`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let full = center.addObserver(forName: .a, on: loop, capacity: .bounded(1, .dropNewest)) {
                log.add("full \($0.text)")
            }
            let other = center.addObserver(forName: .a, on: loop) { log.add("other \($0.text)") }
            try poster.runLoop.performAndWait {
                for text in ["1", "2"] { center.post(Notification(.a, text)) }
            }
            loop.run(in: .default)
            #expect(full.statistics == .init(delivered: 1, dropped: 1, undelivered: 0))
            #expect(other.statistics == .init(delivered: 2, dropped: 0, undelivered: 0))
            for token in [full, other] { token.remove() }
            poster.stop()
            poster.join()
        }
        #expect(log.entries == ["full 1", "other 1", "other 2"])
    }
}
