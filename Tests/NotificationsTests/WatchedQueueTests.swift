import Notifications
import RunLoops
import TestSupport
import Testing

/// What a watchdog says of an observer that keeps the loop of a notification queue from its work.
@Suite struct WatchedQueueTests {
    @Test func `an observer that does not return is reported as the loop's deferred work`() throws {
        let thread = try RunLoopThread(name: "queue")
        defer { thread.stop() }
        let loop = thread.runLoop
        let (reported, handlers) = (Gate(), Log<RunLoop.HandlerKind>())
        let watchdog = try RunLoopWatchdog(threshold: .milliseconds(5)) { report in
            guard report.loop == loop, report.phase == .blocked else { return }
            handlers.add(report.handler)
            reported.open()
        }
        let center = NotificationCenter()
        let token = center.addObserver(forName: nil) { _ in #expect(reported.wait()) }
        _ = try loop.performAndWait {
            NotificationQueue(notificationCenter: center)
                .enqueue(Notification(name: .init("slow")), postingStyle: .asap)
        }
        #expect(reported.wait())
        #expect(handlers.entries == [.deferredWork])
        watchdog.stop()
        token.remove()
    }
}
