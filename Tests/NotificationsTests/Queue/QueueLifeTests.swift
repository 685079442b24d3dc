import Glibc
import RunLoops
import TestSupport
import Testing

@testable import Notifications

/// A loop keeps nothing of a destroyed queue.
@Suite struct QueueLifeTests {
    private static let custom = RunLoop.Mode("custom")

    /// A weak reference to a center.
    private final class WeakCenter: Sendable {
        weak let center: NotificationCenter?
        init(_ center: NotificationCenter) { self.center = center }
    }

    @Test func `a thousand queues leave nothing in the loop`() throws {
        try onLoopThread { loop in
            var centers: [WeakCenter] = []
            for number in 0..<1_000 {
                let center = NotificationCenter()
                centers.append(WeakCenter(center))
                let queue = NotificationQueue(notificationCenter: center)
                let style: NotificationQueue.PostingStyle = number % 2 == 0 ? .asap : .whenIdle
                queue.enqueue(Notification(name: .a), postingStyle: style)
                queue.dequeueNotifications(matching: Notification(name: .a), coalesceMask: .onName)
            }
            #expect(centers.allSatisfy { $0.center == nil })
        }
    }

    @Test(arguments: [NotificationQueue.PostingStyle.asap, .whenIdle])
    func `notifications are posted after the queue was destroyed, and then the center is destroyed, too`(
        style: NotificationQueue.PostingStyle
    ) throws {
        let log = Log<String>()
        try onLoopThread { loop in
            weak var alive: NotificationCenter?
            var token: ObservationToken?
            do {
                let center = NotificationCenter()
                alive = center
                token = center.addObserver(forName: nil) { log.add($0.text) }
                let queue = NotificationQueue(notificationCenter: center)
                queue.enqueue(Notification(name: .a), postingStyle: style)
                queue.enqueue(Notification(name: .b), postingStyle: style, forModes: [Self.custom])
            }
            loop.keepAlive()
            loop.keepAlive(Self.custom)
            // On a busy machine a run can end before the loop has been idle.
            func run(in mode: RunLoop.Mode, until count: Int) {
                let end = ContinuousClock.Instant.hang
                while log.entries.count < count && .now < end {
                    loop.run(in: mode, until: .now + .milliseconds(1))
                }
            }
            run(in: .default, until: 1)
            #expect(log.entries == ["a"] && alive != nil)
            run(in: Self.custom, until: 2)
            #expect(log.entries == ["a", "b"] && alive == nil)
            token?.remove()
        }
    }

    @Test func `a queue that its own observer releases posts the rest`() throws {
        let log = Log<String>()
        try onLoopThread { loop in
            weak var alive: NotificationCenter?
            do {
                let center = NotificationCenter()
                alive = center
                var queue: NotificationQueue? = NotificationQueue(notificationCenter: center)
                let token = loop.addObserver(forName: nil, in: center) { note in
                    log.add(note.text)
                    queue = nil
                    if note.text == "1" { loop.run(in: .default, until: .distantPast) }
                }
                for number in 1...3 {
                    queue?.enqueue(Notification(.a, "\(number)"), postingStyle: .asap, coalesceMask: [])
                }
                loop.run(in: .default)
                token.remove()
            }
            #expect(alive == nil)
        }
        #expect(log.entries == ["1", "2", "3"])
    }

    @Test func `a queue that another thread releases leaves its loop there`() throws {
        let thread = try RunLoopThread(name: "queue")
        let log = Log<String>()
        /// Makes a queue on the thread, has the queue post, and releases it on this thread.
        func use() throws -> (WeakCenter, ObservationToken) {
            let center = NotificationCenter()
            let token = center.addObserver(forName: nil) { log.add($0.text) }
            let queue = try thread.runLoop.performAndWait { NotificationQueue(notificationCenter: center) }
            queue.enqueue(Notification(name: .a), postingStyle: .asap)
            return (WeakCenter(center), token)
        }
        let (alive, token) = try use()
        let deadline = ContinuousClock.Instant.hang
        while alive.center != nil && .now < deadline { sched_yield() }
        #expect(alive.center == nil)
        #expect(log.entries == ["a"])
        token.remove()
        thread.stop()
        thread.join()
    }

    @Test func `queues that threads release while their loop ends leave nothing behind`() throws {
        for round in 0..<100 {
            let thread = try RunLoopThread(name: "queue")
            let center = NotificationCenter()
            let queues = Guarded<[NotificationQueue]>(
                try thread.runLoop.performAndWait {
                    (0..<20).map { _ in NotificationQueue(notificationCenter: center) }
                })
            let dropper = try Threads(1) { _ in
                while let last = queues.withLock({ $0.popLast() }) { withExtendedLifetime(last) {} }
            }
            for _ in 0..<round { _ = ContinuousClock.now }
            thread.stop()
            thread.join()
            try dropper.join()
        }
    }
}
