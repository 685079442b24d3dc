import Glibc
import RunLoops
import TestSupport
import Testing

@testable import Notifications

/// The ends of an observer's loop, of its center and of its notifications.
@Suite struct RedirectedEndTests {
    private static let tick = Notification.Name("tick")
    private static let never = RunLoop.Mode("never")
    private final class Thing: Sendable {}

    @Test(arguments: [
        NotificationCenter.Capacity.bounded(10, .dropNewest), .coalescing(.onSender), .unlimited,
    ])
    func `notifications that wait when a loop ends are counted and discarded`(
        capacity: NotificationCenter.Capacity
    )
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
            token.statistics == ObservationToken.Statistics(delivered: 0, dropped: 0, undelivered: 1))
        #expect(sender == nil)
    }

    @Test func `a poster that waits for room is released when the loop ends`() throws {
        let center = NotificationCenter()
        let target = try RunLoopThread(name: "target")
        let poster = try RunLoopThread(name: "poster")
        let token = center.addObserver(
            forName: Self.tick, on: target.runLoop, inModes: [Self.never],
            capacity: .bounded(1, .block(atMost: .seconds(3_600)))
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
        // Otherwise the poster would wait for an hour.
        try poster.runLoop.performAndWait {}
        #expect(token.statistics?.delivered == 0)
        poster.stop()
        poster.join()
    }

    @Test func `notifications that wait when the center is destroyed are not delivered`() async throws {
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

    @Test func `a notification that is dropped for a newer one is released at once`() throws {
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
        #expect(token.statistics?.dropped == 1)
        target.stop()
        target.join()
    }

    @Test func `a thread that ends counts notifications on their way, and leaves nothing behind`() throws {
        let center = NotificationCenter()
        let (facts, handlers) = (Shared(), Shared())
        weak var loop: RunLoop?

        func observe(
            _ loop: RunLoop, _ modes: [RunLoop.Mode], _ capacity: NotificationCenter.Capacity
        ) -> ObservationToken {
            let counted = Counted(handlers)
            return center.addObserver(forName: Self.tick, on: loop, inModes: modes, capacity: capacity) { _ in
                withExtendedLifetime(counted) {}
            }
        }

        func post() {
            center.post(name: Self.tick, object: Counted(facts), userInfo: ["fact": Counted(facts)])
        }

        func runThread() throws -> [ObservationToken] {
            let target = try RunLoopThread(name: "target")
            loop = target.runLoop
            let tokens = [
                observe(target.runLoop, [Self.never], .unlimited),
                observe(target.runLoop, [Self.never], .bounded(3, .dropOldest)),
                observe(target.runLoop, [Self.never], .bounded(3, .dropNewest)),
                observe(target.runLoop, [Self.never], .coalescing(.onName)),
                observe(target.runLoop, [.common], .unlimited),
            ]
            let (isHeld, mayEnd) = (Gate(), Gate())
            target.runLoop.perform {
                isHeld.open()
                #expect(mayEnd.wait())
            }
            #expect(isHeld.wait())
            for _ in 0..<10 { post() }
            target.stop()
            mayEnd.open()
            target.join()
            return tokens
        }

        var tokens = try runThread()
        let counts = tokens.map { $0.statistics ?? .init() }
        #expect(counts[0] == .init(delivered: 0, dropped: 0, undelivered: 10))
        #expect(counts[1] == .init(delivered: 0, dropped: 7, undelivered: 3))
        #expect(counts[2] == .init(delivered: 0, dropped: 7, undelivered: 3))
        #expect(counts[3] == .init(delivered: 0, dropped: 0, undelivered: 1))
        // The loop's last pass can have delivered some of these.
        #expect(counts[4].delivered + counts[4].undelivered == 10)
        let redirector = tokens[0].registration.redirected?.redirector
        let undelivered = counts.map(\.undelivered).reduce(0, +)
        #expect(redirector?.runLoop.undeliveredNotificationCount == undelivered)
        #expect(facts.count == 0)

        // Observers with undelivered notifications were removed. For each of the others, the first post finds that the loop has
        // ended, and the second post finds no observer.
        let rest = counts.count { $0.undelivered == 0 }
        for _ in 0..<2 {
            post()
            #expect(redirector?.runLoop.undeliveredNotificationCount == undelivered + rest)
        }
        #expect(facts.count == 0)
        #expect(handlers.count == 0)
        #expect(center.names.snapshot(for: Self.tick) == nil)
        #expect(redirector?.runLoop === loop)
        tokens = []
        withExtendedLifetime(redirector) {}
    }

    @Test func `notifications for a removed observer are not counted when the loop ends`() throws {
        let center = NotificationCenter()
        let facts = Shared()
        let target = try RunLoopThread(name: "target")
        let redirector = NotificationRedirector.of(target.runLoop)
        let tokens = [NotificationCenter.Capacity.unlimited, .bounded(2, .dropNewest)].map { capacity in
            center.addObserver(
                forName: Self.tick, on: target.runLoop, inModes: [Self.never], capacity: capacity
            ) { _ in }
        }
        for _ in 0..<3 { center.post(name: Self.tick, userInfo: ["fact": Counted(facts)]) }
        for token in tokens { token.remove() }
        target.stop()
        target.join()
        #expect(tokens[0].statistics == .init(delivered: 0, dropped: 0, undelivered: 0))
        #expect(tokens[1].statistics == .init(delivered: 0, dropped: 1, undelivered: 0))
        #expect(redirector.runLoop.undeliveredNotificationCount == 0)
        #expect(facts.count == 0)
    }

    @Test func `a loop that has ended is destroyed with its last observer`() throws {
        let center = NotificationCenter()
        weak var loop: RunLoop?
        weak var redirector: NotificationRedirector?
        func runThread() throws {
            let target = try RunLoopThread(name: "target")
            loop = target.runLoop
            let token = center.addObserver(forName: Self.tick, on: target.runLoop, inModes: [Self.never]) {
                _ in
            }
            redirector = .of(target.runLoop)
            for _ in 0..<10 { center.post(name: Self.tick) }
            target.stop()
            target.join()
            #expect(token.statistics?.undelivered == 10)
            #expect(redirector != nil)
        }
        try runThread()
        #expect(redirector == nil)
        // This thread can run on before the ended thread releases its loop, which is the last step of that thread.
        let end = ContinuousClock.Instant.hang
        while loop != nil && ContinuousClock.now < end { sched_yield() }
        #expect(loop == nil)
    }

    @Test func `a thread that ends while others post counts every notification that it loses`() throws {
        for _ in 0..<20 {
            let center = NotificationCenter()
            let calls = Shared()
            let alive = Shared()
            let target = try RunLoopThread(name: "target")
            let token = center.addObserver(forName: Self.tick, on: target.runLoop) { _ in calls.increment() }
            let (posted, isForgotten) = (Shared(), Shared())
            let posters = try Threads(2) { _ in
                for _ in 0..<100_000 {
                    if isForgotten.count > 0 { break }
                    center.post(name: Self.tick, userInfo: ["fact": Counted(alive)])
                    posted.increment()
                }
            }
            while calls.count < 10 { sched_yield() }
            target.stop()
            target.join()
            // The observer need not be removed: a post finds that the loop has ended, and forgets the observer.
            center.post(name: Self.tick)
            isForgotten.increment()
            try posters.join()
            #expect(center.names.snapshot(for: Self.tick) == nil)
            let counts = try #require(token.statistics)
            #expect(counts.delivered == calls.count)
            #expect(counts.dropped == 0)
            // After the first post that finds the loop ended, posts do not count.
            #expect(counts.delivered + counts.undelivered <= posted.count + 1)
            #expect(counts.undelivered > 0)
            #expect(alive.count == 0)
        }
    }
}
