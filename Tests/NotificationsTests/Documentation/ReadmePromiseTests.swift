import Notifications
import RunLoops
import TestSupport
import Testing

/// The README's bullet about notifications; RunLoops tests the other bullets.
@Suite struct ReadmePromiseTests {
    @Test func `notifications: in order, on the thread of a loop, and merged when they match`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        let screen = try RunLoopThread(name: "screen")
        try onLoopThread { loop in
            let tokens = [
                center.addObserver(forName: .init("saved")) { _ in log.add("first, at once") },
                center.addObserver(forName: nil) { _ in log.add("second, at once") },
            ]
            center.post(name: .init("saved"))
            log.add("posted")
            for token in tokens { token.remove() }

            let shown = center.addObserver(forName: .init("saved"), on: screen.runLoop) { _ in
                log.add("on " + RunLoop.current.name)
            }
            let queue = NotificationQueue(notificationCenter: center)
            for _ in 0..<3 { queue.enqueue(Notification(name: .init("saved")), postingStyle: .asap) }
            loop.run(until: .distantPast)
            try screen.runLoop.performAndWait {}
            shown.remove()
        }
        screen.stop()
        #expect(log.entries == ["first, at once", "second, at once", "posted", "on screen"])
    }
}
