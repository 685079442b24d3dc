import Notifications
import RunLoops
import TestSupport
import Testing

/// The reports of a watchdog about observers that block a loop.
@Suite struct WatchedQueueTests {
    /// Returns the handlers that a watchdog reports, where an observer blocks a loop until the report.
    private static func blockedBy(_ start: (NotificationCenter, RunLoop, Gate) throws -> ObservationToken)
        throws -> [String]
    {
        let thread = try RunLoopThread(name: "blocked")
        defer { thread.stop() }
        let loop = thread.runLoop
        let (reported, handlers) = (Gate(), Log<String>())
        let watchdog = try RunLoopWatchdog(threshold: .milliseconds(5)) { report in
            // Other work can delay the block that prepares the test.
            guard report.loop == loop, report.phase == .blocked, report.handler != .block else { return }
            handlers.add("\(report.handler): \(report.madeAt)")
            #expect(report.description.contains(": \(report.madeAt) has been running for "))
            reported.open()
        }
        let center = NotificationCenter()
        let token = try start(center, loop, reported)
        #expect(reported.wait())
        withExtendedLifetime(center) {}
        watchdog.stop()
        token.remove()
        return handlers.entries
    }

    @Test func `an observer of a queue is the loop's deferred work`() throws {
        let handlers = try WatchedQueueTests.blockedBy { center, loop, gate in
            let token = center.addObserver(forName: nil) { _ in #expect(gate.wait()) }
            _ = try loop.performAndWait {
                NotificationQueue(notificationCenter: center)
                    .enqueue(Notification(name: .init("slow")), postingStyle: .asap)
            }
            return token
        }
        #expect(handlers == ["deferred work: a notification queue"])
    }

    @Test(arguments: [
        NotificationCenter.Capacity.unlimited, .bounded(3, .dropNewest), .coalescing(.onName),
    ])
    func `an observer on a loop is in the record as a notification`(
        capacity: NotificationCenter.Capacity
    ) throws {
        let handlers = try WatchedQueueTests.blockedBy { center, loop, gate in
            let token = center.addObserver(forName: nil, on: loop, capacity: capacity) { _ in
                #expect(gate.wait())
            }
            center.post(name: .init("slow"))
            return token
        }
        #expect(handlers == ["notification: the delivery of a notification"])
    }

    @Test func `a notification whose poster waits is kept in order, too`() throws {
        let handlers = try WatchedQueueTests.blockedBy { center, loop, gate in
            let token = center.addObserver(forName: nil, on: loop) { _ in #expect(gate.wait()) }
            try center.postAndWait(Notification(name: .init("slow")))
            return token
        }
        #expect(handlers == ["notification: the delivery of a notification"])
    }
}
