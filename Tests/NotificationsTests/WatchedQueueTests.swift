import Notifications
import RunLoops
import TestSupport
import Testing

/// What a watchdog says of observers that keep a loop from its work.
@Suite struct WatchedQueueTests {
    /// What keeps a thread's loop from its work, once something does; whoever does waits at the gate for that.
    private static func blockedBy(_ start: (NotificationCenter, RunLoop, Gate) throws -> ObservationToken)
        throws -> [String]
    {
        let thread = try RunLoopThread(name: "blocked")
        defer { thread.stop() }
        let loop = thread.runLoop
        let (reported, handlers) = (Gate(), Log<String>())
        let watchdog = try RunLoopWatchdog(threshold: .milliseconds(5)) { report in
            // The block that prepares the test may be held up by others.
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
        NotificationRedirector.Capacity.unlimited, .bounded(3, .dropNewest), .coalescing(.onName),
    ])
    func `an observer that chose the loop is a notification`(
        capacity: NotificationRedirector.Capacity
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

    @Test func `so is one that is waited for`() throws {
        let handlers = try WatchedQueueTests.blockedBy { center, loop, gate in
            let token = center.addObserver(forName: nil, on: loop) { _ in #expect(gate.wait()) }
            try center.postAndWait(Notification(name: .init("slow")))
            return token
        }
        #expect(handlers == ["notification: the delivery of a notification"])
    }
}
