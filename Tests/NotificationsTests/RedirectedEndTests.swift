import RunLoops
import TestSupport
import Testing

@testable import Notifications

/// What is left of a redirected observer when its loop, its center or its notifications end.
@Suite struct RedirectedEndTests {
    private static let tick = Notification.Name("tick")
    private static let never = RunLoop.Mode("never")
    private final class Thing: Sendable {}

    @Test(arguments: [
        NotificationRedirector.Capacity.bounded(10, .dropNewest), .coalescing(.onSender), .unlimited,
    ])
    func `what waits when the loop ends is counted and let go of`(capacity: NotificationRedirector.Capacity)
        throws
    {
        let center = NotificationCenter()
        let target = try RunLoopThread(name: "target")
        let token = center.addObserver(
            forName: Self.tick, on: target.runLoop, inModes: [Self.never], capacity: capacity
        ) { _ in }
        weak var sender: Thing?
        do {
            let thing = Thing()
            sender = thing
            center.post(name: Self.tick, object: thing)
        }
        #expect(sender != nil)
        target.stop()
        target.join()
        #expect(
            token.deliveryCounts == NotificationRedirector.Counts(delivered: 0, dropped: 0, undelivered: 1))
        #expect(sender == nil)
    }

    @Test func `a poster that waits for room is released when the loop ends`() throws {
        let center = NotificationCenter()
        let target = try RunLoopThread(name: "target")
        let poster = try RunLoopThread(name: "poster")
        let token = center.addObserver(
            forName: Self.tick, on: target.runLoop, inModes: [Self.never],
            capacity: .bounded(1, .block(until: .seconds(3_600)))
        ) { _ in }
        let started = Gate()
        poster.runLoop.perform {
            center.post(name: Self.tick)
            started.open()
            center.post(name: Self.tick)
        }
        #expect(started.wait())
        target.stop()
        target.join()
        // It would take an hour.
        try poster.runLoop.performAndWait {}
        #expect(token.deliveryCounts?.delivered == 0)
        poster.stop()
        poster.join()
    }

    @Test func `what is queued when the center goes is not delivered`() async throws {
        let log = Log<Int>()
        let target = try RunLoopThread(name: "target")
        let held = Gate()
        let release = Gate()
        target.runLoop.perform {
            held.open()
            #expect(release.wait())
        }
        #expect(held.wait())
        func postAndLeave() -> ObservationToken {
            let center = NotificationCenter()
            let token = center.addObserver(forName: Self.tick, on: target.runLoop) { _ in log.add(1) }
            center.post(name: Self.tick)
            return token
        }
        let token = postAndLeave()
        release.open()
        await token.removed()
        try await target.runLoop.performAndWait {}
        #expect(log.entries.isEmpty)
        target.stop()
    }

    @Test func `what is dropped for a newer one is let go of at once`() throws {
        let center = NotificationCenter()
        let target = try RunLoopThread(name: "target")
        let token = center.addObserver(
            forName: Self.tick, on: target.runLoop, inModes: [Self.never], capacity: .bounded(1, .dropOldest)
        ) { _ in }
        weak var sender: Thing?
        do {
            let thing = Thing()
            sender = thing
            center.post(name: Self.tick, object: thing)
        }
        #expect(sender != nil)
        center.post(name: Self.tick)
        #expect(sender == nil)
        #expect(token.deliveryCounts?.dropped == 1)
        target.stop()
        target.join()
    }
}
