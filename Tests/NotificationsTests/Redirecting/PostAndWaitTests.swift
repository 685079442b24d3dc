import Glibc
import RunLoops
import TestSupport
import Testing

@testable import Notifications

/// Posters wait until observers on loops have been called, and no wait hangs.
@Suite struct PostAndWaitTests {
    private static let never = RunLoop.Mode("never")

    /// A thread whose observer is never called, and the pending deliveries of a poster that waits for it.
    private struct Stuck {
        let center = NotificationCenter()
        let target: RunLoopThread
        let token: ObservationToken
        private let pending = PendingDeliveries()

        init(_ capacity: NotificationCenter.Capacity = .unlimited) throws {
            target = try RunLoopThread(name: "target")
            token = center.addObserver(
                forName: .a, on: target.runLoop, inModes: [PostAndWaitTests.never], capacity: capacity
            ) { _ in Issue.record("nobody runs in this mode") }
            var notification = Notification(name: .a)
            notification.pendingDeliveries = pending
            center.post(notification)
            #expect(outcome(.distantPast) == .timedOut)
        }

        func outcome(_ deadline: ContinuousClock.Instant = .hang) -> PerformError.Reason? {
            do throws(PerformError) {
                try pending.wait(until: deadline, for: Notification(name: .a))
                return nil
            } catch { return error.reason }
        }

        func end() {
            target.stop()
            target.join()
        }
    }

    @Test(arguments: [
        NotificationCenter.Capacity.unlimited, .bounded(3, .dropNewest), .coalescing(.onName),
    ]) func `a removal ends the wait for deliveries that have not been made`(
        capacity: NotificationCenter.Capacity
    ) throws {
        let stuck = try Stuck(capacity)
        stuck.token.remove()
        #expect(stuck.outcome() == nil)
        #expect(stuck.token.statistics == ObservationToken.Statistics())
        stuck.end()
        #expect(stuck.token.statistics == ObservationToken.Statistics())
    }

    @Test func `the destruction of the center ends the wait, too`() throws {
        let target = try RunLoopThread(name: "target")
        var center: NotificationCenter? = NotificationCenter()
        let token = center?.addObserver(forName: .a, on: target.runLoop, inModes: [Self.never]) { _ in }
        let pending = PendingDeliveries()
        var notification = Notification(name: .a)
        notification.pendingDeliveries = pending
        center?.post(notification)
        let error = #expect(throws: PerformError(.timedOut)) {
            try pending.wait(until: .distantPast, for: notification)
        }
        let place =
            "notification \"\(notification.name)\" made at \(notification.fileID):\(notification.line): "
        #expect(error?.description.hasPrefix(place) == true)
        center = nil
        try pending.wait(until: .hang, for: notification)
        #expect(token?.statistics?.undelivered == 0)
        target.stop()
    }

    @Test(arguments: [
        NotificationCenter.Capacity.unlimited, .bounded(3, .dropNewest), .bounded(3, .dropOldest),
        .bounded(3, .block(atMost: .seconds(3_600))), .coalescing(.onName),
    ]) func `a delivery to an observer that was removed during the post is not waited for`(
        capacity: NotificationCenter.Capacity
    ) throws {
        let target = try RunLoopThread(name: "target")
        let token = NotificationCenter().addObserver(
            forName: .a, on: target.runLoop, inModes: [Self.never], capacity: capacity
        ) { _ in }
        token.remove()
        let pending = PendingDeliveries()
        var notification = Notification(name: .a)
        notification.pendingDeliveries = pending
        // As if the post had found the observer before its removal.
        token.registration.redirected?.take(notification)
        try pending.wait(until: .now + .seconds(10), for: notification)
        #expect(token.statistics == ObservationToken.Statistics())
        target.stop()
    }

    @Test func `a removal ends the wait of a poster that waits for room, too`() throws {
        let stuck = try Stuck(.bounded(1, .block(atMost: .seconds(3_600))))
        let poster = try Threads(1) { _ in
            try stuck.center.postAndWait(Notification(name: .a), before: .now + .seconds(10))
        }
        while stuck.token.registration.redirected?.waitingPosterCount == 0 { sched_yield() }
        stuck.token.remove()
        try poster.join()
        #expect(stuck.outcome() == nil)
        #expect(stuck.token.statistics == ObservationToken.Statistics())
        stuck.end()
    }

    @Test func `dropping a notification that waits ends the wait for it`() throws {
        let stuck = try Stuck(.bounded(1, .dropOldest))
        stuck.center.post(name: .a)
        #expect(stuck.outcome() == nil)
        #expect(stuck.token.statistics?.dropped == 1)
        stuck.end()
    }

    @Test func `a notification that is dropped or merged at once is not waited for`() throws {
        for capacity in [NotificationCenter.Capacity.bounded(1, .dropNewest), .coalescing(.onName)] {
            let stuck = try Stuck(capacity)
            try stuck.center.postAndWait(Notification(name: .a), before: .hang)
            #expect(stuck.outcome(.distantPast) == .timedOut)
            stuck.end()
        }
    }

    @Test(arguments: [
        NotificationCenter.Capacity.bounded(1, .dropNewest), .coalescing(.onName),
    ])
    func `a notification that is dropped or merged at once on the loop's own thread is not waited for either`(
        capacity: NotificationCenter.Capacity
    ) throws {
        let center = NotificationCenter()
        let calls = Shared()
        let poster = try RunLoopThread(name: "poster")
        try onLoopThread { loop in
            let token = center.addObserver(forName: .a, on: loop, capacity: capacity) { _ in
                calls.increment()
            }
            try poster.runLoop.performAndWait { center.post(name: .a) }
            try center.postAndWait(Notification(name: .a))
            #expect(calls.count == 0)
            loop.run(in: .default)
            #expect(calls.count == 1)
            token.remove()
        }
        poster.stop()
    }

    @Test func `a delivery that a later observer's run has made is not waited for`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        let poster = try RunLoopThread(name: "poster")
        try onLoopThread { loop in
            let tokens = [
                center.addObserver(forName: nil, on: loop) { log.add($0.text) },
                center.addObserver(forName: .b) { _ in loop.run(in: .default) },
            ]
            // This notification waits, so the post of this thread is not delivered at once.
            try poster.runLoop.performAndWait { center.post(name: .a) }
            try center.postAndWait(Notification(name: .b))
            #expect(log.entries == ["a", "b"])
            for token in tokens { token.remove() }
        }
        poster.stop()
    }

    @Test func `the end of the loop ends the wait with an error, and counts what it discards`() throws {
        let stuck = try Stuck()
        stuck.center.post(name: .a)
        stuck.target.stop()
        #expect(stuck.outcome() == .loopEnded)
        stuck.end()
        #expect(stuck.token.statistics?.undelivered == 2)
        // The observer no longer exists.
        try stuck.center.postAndWait(Notification(name: .a))
    }

    @Test func `the first post after the loop's end throws, and the next finds no observer`() throws {
        let center = NotificationCenter()
        let target = try RunLoopThread(name: "target")
        let token = center.addObserver(forName: .a, on: target.runLoop) { _ in Issue.record("it has ended") }
        target.stop()
        target.join()
        #expect(throws: PerformError(.loopEnded)) { try center.postAndWait(Notification(name: .a)) }
        try center.postAndWait(Notification(name: .a))
        #expect(token.statistics?.undelivered == 1)
    }

    @Test(arguments: 0..<10) func `after any race of posts and removals, no poster still waits`(seed: UInt64)
        throws
    {
        let center = NotificationCenter()
        let target = try RunLoopThread(name: "target")
        for round in 0..<30 {
            let modes: [RunLoop.Mode] = round % 3 == 0 ? [.common] : [Self.never]
            let token = center.addObserver(forName: .a, on: target.runLoop, inModes: modes) { _ in }
            let posters = try Threads(3) { number in
                var random = SplitMix64(seed: seed &* 100 &+ UInt64(round * 3 + number))
                for _ in 0..<Int.random(in: 0...300, using: &random) { _ = ContinuousClock.now }
                if number == 0 { token.remove() } else { try center.postAndWait(Notification(name: .a)) }
            }
            try posters.join()
        }
        target.stop()
        target.join()
    }

    // MARK: - Circles

    @Test func `of a poster and a handler that wait for each other, one wait fails`() throws {
        let center = NotificationCenter()
        let target = try RunLoopThread(name: "target")
        try onLoopThread { loop in
            for _ in 0..<50 {
                let (circles, isOver) = (Log<WaitCircle?>(), Gate())
                let token = center.addObserver(forName: .a, on: target.runLoop) { _ in
                    circles.add(circle { try loop.performAndWait {} })
                    isOver.open()
                }
                let note = Notification(name: .a, fileID: "Poster.swift", line: 7)
                circles.add(circle { try center.postAndWait(note) })
                // The later wait has failed. If that was the poster's, the other wait ends when this loop runs.
                while !isOver.wait(seconds: 0) { loop.run(until: .now) }
                let found = circles.entries.compactMap { $0 }
                #expect(found.count == 1)
                let waits = found.first?.waits.sorted { $0.operation < $1.operation }
                #expect(
                    waits?.map(\.operation) == [
                        "NotificationCenter.postAndWait", "RunLoop.performAndWait",
                    ])
                #expect(waits?.map(\.loop) == [loop, target.runLoop])
                #expect(waits?.first?.fileID == "Poster.swift" && waits?.first?.line == 7)
                token.remove()
            }
        }
        target.stop()
    }

    @Test func `a poster's wait fails if its observer's thread waits for it, and it has posted all the same`()
        throws
    {
        let center = NotificationCenter()
        let target = try RunLoopThread(name: "target")
        let delivered = Gate()
        let token = center.addObserver(forName: .a, on: target.runLoop) { _ in delivered.open() }
        let poster = try RunLoopThread(name: "poster")
        try target.runLoop.performAndWait {
            try poster.runLoop.performAndWait {
                let found = circle { try center.postAndWait(Notification(name: .a)) }
                #expect(found?.waits.map(\.loop) == [poster.runLoop, target.runLoop])
            }
        }
        #expect(delivered.wait())
        token.remove()
        for thread in [target, poster] { thread.stop() }
    }

    @Test func `a poster waits for the loops that have not delivered yet`() throws {
        let center = NotificationCenter()
        let targets = try (0..<3).map { try RunLoopThread(name: "target \($0)") }
        let poster = try RunLoopThread(name: "poster")
        for _ in 0..<50 {
            let (served, isOver) = (Gate(), Gate())
            let circles = Log<WaitCircle?>()
            let tokens = [
                // This loop has delivered before it waits for the poster. The poster waits only for the other loops.
                center.addObserver(forName: .a, on: targets[0].runLoop) { _ in
                    targets[0].runLoop.perform {
                        do { try poster.runLoop.performAndWait {} } catch { Issue.record(error) }
                        served.open()
                    }
                },
                center.addObserver(forName: .a, on: targets[1].runLoop) { _ in
                    for _ in 0..<20 { sched_yield() }
                },
                // One of these two waits fails, and the poster continues.
                center.addObserver(forName: .a, on: targets[2].runLoop) { _ in
                    for _ in 0..<10 { sched_yield() }
                    circles.add(circle { try poster.runLoop.performAndWait {} })
                },
            ]
            poster.runLoop.perform {
                circles.add(circle { try center.postAndWait(Notification(name: .a)) })
                isOver.open()
            }
            #expect(isOver.wait())
            #expect(served.wait())
            for target in targets { try target.runLoop.performAndWait {} }
            #expect(circles.entries.compactMap { $0 }.map(\.waits.count) == [2])
            for token in tokens { token.remove() }
        }
        for thread in targets + [poster] { thread.stop() }
    }

    @Test func `a poster's wait fails so that a thread that it waits for can join the poster's`() throws {
        let center = NotificationCenter()
        let poster = try RunLoopThread(name: "poster")
        let outcome = Log<WaitCircle?>()
        try onLoopThread { loop in
            let token = center.addObserver(forName: .a, on: loop, inModes: [Self.never]) { _ in }
            poster.runLoop.perform {
                outcome.add(circle { try center.postAndWait(Notification(name: .a)) })
            }
            while token.registration.redirected?.awaitedCount == 0 {}
            poster.stop()
            #expect(poster.join())
            token.remove()
        }
        #expect(outcome.entries.first??.waits.map(\.operation).last == "RunLoopThread.join")
    }
}

/// The circle that makes a wait fail, or nil.
func circle(_ body: () throws -> Void) -> WaitCircle? {
    do { try body() } catch { return (error as? PerformError)?.circle }
    return nil
}
