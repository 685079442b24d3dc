import Glibc
import TestSupport
import Testing

@testable import Notifications
@testable import RunLoops

/// The wake-ups of a loop for its observers, and the time that remains for other work.
@Suite struct RedirectedWakeUpTests {
    @Test func `a burst of posts to a sleeping loop wakes it once`() throws {
        let center = NotificationCenter()
        let target = try RunLoopThread(name: "target")
        let loop = target.runLoop
        let (isHeld, mayGoOn) = (Gate(), Gate())
        let count = Shared()
        let token = center.addObserver(forName: .a, on: loop) { _ in
            if count.increment() > 0 { return }
            isHeld.open()
            #expect(mayGoOn.wait())
        }
        for round in 1...5 {
            let before = try Self.statisticsAsleep(loop)
            center.post(name: .a)
            if round == 1 { #expect(isHeld.wait()) }
            // In the first round the loop is awake, blocked in a handler, so further posts need no write.
            for _ in 0..<(round == 1 ? 999 : 0) { center.post(name: .a) }
            mayGoOn.open()
            while count.count < 999 + round { sched_yield() }
            #expect(try Self.statisticsAsleep(loop).kernelWrites == before.kernelWrites + 1)
        }
        token.remove()
        target.stop()
        target.join()
    }

    /// Waits until a loop sleeps, and returns its counts.
    private static func statisticsAsleep(_ loop: RunLoop) throws -> RunLoop.Statistics {
        let end = ContinuousClock.Instant.hang
        while !loop.handle.mailbox.current.isArmed {
            try #require(ContinuousClock.now < end)
            sched_yield()
        }
        return loop.statistics
    }

    @Test func `a post while the loop falls asleep is delivered, with nothing else to wake it`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            loop.keepAlive()
            let token = center.addObserver(forName: .a, on: loop) { _ in
                log.add("delivered")
                loop.stop()
            }
            loop.observe(.beforeWaiting) {
                if !log.entries.isEmpty { return }
                // The loop has checked for work and found none, and is about to sleep.
                do { try poster.runLoop.performAndWait { center.post(name: .a) } } catch {
                    Issue.record(error)
                }
                log.add("posted")
            }
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            token.remove()
            poster.stop()
            poster.join()
        }
        #expect(log.entries == ["posted", "delivered"])
    }

    @Test func `two loops that answer each other never miss a notification`() throws {
        let center = NotificationCenter()
        let targets = try (0..<2).map { try RunLoopThread(name: "target \($0)") }
        let isOver = Gate()
        let tokens = zip(targets, [(Notification.Name.a, Notification.Name.b), (.b, .a)]).map {
            target, names in
            center.addObserver(forName: names.0, on: target.runLoop) { note in
                guard let left = note.userInfo["left"] as? Int, left > 0 else { return isOver.open() }
                center.post(name: names.1, userInfo: ["left": left - 1])
            }
        }
        center.post(name: .a, userInfo: ["left": 20_000])
        // Each notification wakes a loop, one after another.
        #expect(isOver.wait(seconds: 600))
        for token in tokens { token.remove() }
        for target in targets { target.stop() }
        for target in targets { target.join() }
    }

    @Test func `notifications that come as fast as they are delivered delay no timer`() throws {
        let center = NotificationCenter()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let hang = ContinuousClock.now + .seconds(60)
            var isOver = false
            var delivered = 0
            // A notification always waits, so each post is queued, and the lane is never empty.
            let token = loop.addObserver(forName: .a, in: center) { _ in
                delivered += 1
                if !isOver && ContinuousClock.now < hang { center.post(name: .a) }
                if delivered != 11 { return }
                // This is the first notification that the handler has posted.
                loop.add(
                    Timer(timeInterval: .milliseconds(10), repeats: false) { _ in
                        isOver = true
                        loop.stop()
                    }, forMode: .default)
            }
            try poster.runLoop.performAndWait { for _ in 0..<10 { center.post(name: .a) } }
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            #expect(isOver && ContinuousClock.now < hang)
            loop.run(in: .default)
            token.remove()
            poster.stop()
            poster.join()
        }
    }

    @Test func `twenty thousand notifications may wait: no limit of a port drops any`() throws {
        let center = NotificationCenter()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            var next = 0
            let token = loop.addObserver(forName: .a, in: center) { note in
                if note.userInfo["number"] as? Int == next { next += 1 }
            }
            try poster.runLoop.performAndWait {
                for number in 0..<20_000 { center.post(name: .a, userInfo: ["number": number]) }
            }
            loop.run(in: .default)
            #expect(next == 20_000)
            #expect(token.statistics == .init(delivered: 20_000, dropped: 0, undelivered: 0))
            token.remove()
            poster.stop()
            poster.join()
        }
    }
}
