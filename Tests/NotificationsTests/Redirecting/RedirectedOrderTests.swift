import RunLoops
import TestSupport
import Testing

@testable import Notifications

/// The order in which redirected notifications arrive, and the calls that handlers on a loop are allowed to make.
@Suite struct RedirectedOrderTests {
    private static let end = Notification.Name("end")

    // Guarantees: Notifications that one thread posts reach each observer on a loop in that order, the posts of the loop's own
    // thread included.
    @Test func `all observers on a loop see in one order what one thread posts, whatever the center`() throws
    {
        let centers = [NotificationCenter(), NotificationCenter()]
        let log = Log<String>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let tokens = [
                centers[0].addObserver(forName: .a, on: loop) { log.add("first \($0.text)") },
                centers[1].addObserver(forName: .b, on: loop, capacity: .bounded(1_000, .dropNewest)) {
                    log.add("second \($0.text)")
                },
                centers[0].addObserver(forName: nil, on: loop) { log.add("every \($0.text)") },
            ]
            try poster.runLoop.performAndWait {
                for number in 0..<100 {
                    centers[0].post(Notification(.a, "a\(number)"))
                    centers[1].post(Notification(.b, "b\(number)"))
                    centers[0].post(Notification(.c, "c\(number)"))
                }
            }
            loop.run(in: .default)
            for token in tokens { token.remove() }
            poster.stop()
            poster.join()
        }
        let expected = (0..<100).flatMap {
            ["first a\($0)", "every a\($0)", "second b\($0)", "every c\($0)"]
        }
        #expect(log.entries == expected)
    }

    /// Has another thread post to a limited observer, and stop before it sends the delivery.
    ///
    /// - Returns: The number of the delivery.
    private static func beginPost(
        of text: String, to limited: RedirectedObserver, after filler: RedirectedObserver? = nil
    ) throws -> Int {
        let turn = Guarded<Int?>(nil)
        try Threads(1) { _ in
            filler?.take(Notification(.a, "filler"))
            guard case .send(let number) = limited.offer(Notification(.a, text)) else { return }
            turn.withLock { $0 = number }
        }.join()
        return try #require(turn.withLock { $0 })
    }

    @Test(arguments: [
        NotificationCenter.Capacity.bounded(3, .dropNewest), .bounded(3, .dropOldest),
        .bounded(3, .block(atMost: .seconds(1))), .coalescing([]),
    ])
    func `a poster that is held up inside its post is neither overtaken nor waited for`(
        capacity: NotificationCenter.Capacity
    ) throws {
        let log = Log<String>()
        try onLoopThread { loop in
            let filler = RedirectedObserver(.of(loop), [.common], .unlimited) { _ in log.add("filler") }
            let limited = RedirectedObserver(.of(loop), [.common], capacity) { log.add($0.text) }
            let heldUp = try Self.beginPost(of: "other", to: limited, after: filler)
            limited.take(Notification(.a, "1"))
            loop.perform { log.add("block") }
            loop.run(in: .default)
            #expect(log.entries == ["filler", "other", "1", "block"])
            limited.take(Notification(.a, "2"))
            try Threads(1) { _ in limited.send(heldUp) }.join()
            loop.run(in: .default)
            #expect(log.entries.suffix(1) == ["2"])
            // No post is in progress.
            limited.take(Notification(.a, "3"))
            #expect(log.entries.suffix(2) == ["2", "3"])
            for observer in [filler, limited] { observer.remove() }
        }
    }

    @Test func `a run inside a handler overtakes nothing of the delivery that it is in`() throws {
        let log = Log<String>()
        try onLoopThread { loop in
            let known = Guarded<RedirectedObserver?>(nil)
            let heldUp = Guarded<Int?>(nil)
            let limited = RedirectedObserver(.of(loop), [.common], .bounded(9, .dropNewest)) { note in
                log.add(note.text)
                if note.text != "other" { return }
                // The poster continues, and its delivery arrives while this delivery still has notifications.
                do {
                    try Threads(1) { _ in
                        if let turn = heldUp.withLock({ $0 }) { known.withLock { $0 }?.send(turn) }
                    }.join()
                } catch { Issue.record(error) }
                loop.perform { known.withLock { $0 }?.take(Notification(.a, "2")) }
                loop.run(in: .default)
            }
            known.withLock { $0 = limited }
            let turn = try Self.beginPost(of: "other", to: limited)
            heldUp.withLock { $0 = turn }
            limited.take(Notification(.a, "1"))
            loop.run(in: .default)
            #expect(log.entries == ["other", "1", "2"])
            // No post is in progress.
            limited.take(Notification(.a, "3"))
            #expect(log.entries.last == "3")
            limited.remove()
            known.withLock { $0 = nil }
        }
    }

    @Test func `a notification that replaces one of a held-up poster is not overtaken`() throws {
        let log = Log<String>()
        try onLoopThread { loop in
            let filler = RedirectedObserver(.of(loop), [.common], .unlimited) { _ in log.add("filler") }
            let limited = RedirectedObserver(.of(loop), [.common], .bounded(1, .dropOldest)) {
                log.add($0.text)
            }
            let heldUp = try Self.beginPost(of: "other", to: limited, after: filler)
            limited.take(Notification(.a, "1"))
            loop.run(in: .default)
            limited.take(Notification(.a, "2"))
            try Threads(1) { _ in limited.send(heldUp) }.join()
            loop.run(in: .default)
            #expect(log.entries == ["filler", "2"])
            #expect(limited.counts == .init(delivered: 1, dropped: 2, undelivered: 0))
            for observer in [filler, limited] { observer.remove() }
        }
    }

    @Test func `a post returns before its delivery on another thread`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        let target = try RunLoopThread(name: "target")
        let token = center.addObserver(forName: .a, on: target.runLoop) { _ in log.add("delivered") }
        let (isHeld, mayGoOn) = (Gate(), Gate())
        target.runLoop.perform {
            isHeld.open()
            #expect(mayGoOn.wait())
        }
        #expect(isHeld.wait())
        center.post(name: .a)
        log.add("posted")
        mayGoOn.open()
        try target.runLoop.performAndWait {}
        #expect(log.entries == ["posted", "delivered"])
        token.remove()
        target.stop()
        target.join()
    }

    @Test func `a run inside a handler delivers later notifications, in order and once`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let token = center.addObserver(forName: .a, on: loop) { note in
                log.add("\(note.text) begins")
                if note.text != "3" { loop.run(in: .default) }
                log.add("\(note.text) ends")
            }
            try poster.runLoop.performAndWait {
                for text in ["1", "2", "3"] { center.post(Notification(.a, text)) }
            }
            loop.run(in: .default)
            token.remove()
            poster.stop()
            poster.join()
        }
        #expect(log.entries == ["1 begins", "2 begins", "3 begins", "3 ends", "2 ends", "1 ends"])
    }

    @Test func `runs inside handlers go as deep as notifications wait`() throws {
        let center = NotificationCenter()
        let log = Log<Int>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let token = center.addObserver(forName: .a, on: loop) { note in
                log.add(note.userInfo["number"] as? Int ?? -1)
                loop.run(in: .default)
            }
            try poster.runLoop.performAndWait {
                for number in 0..<200 { center.post(name: .a, userInfo: ["number": number]) }
            }
            loop.run(in: .default)
            #expect(token.statistics?.delivered == 200)
            token.remove()
            poster.stop()
            poster.join()
        }
        #expect(log.entries == Array(0..<200))
    }

    @Test func `a handler on a loop may post, register and remove`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let added = Log<ObservationToken>()
            let other = center.addObserver(forName: .a, on: loop) { _ in log.add("other") }
            let inner = center.addObserver(forName: .b, on: loop) { log.add("inner \($0.text)") }
            let direct = center.addObserver(forName: .b) { log.add("direct \($0.text)") }
            let token = center.addObserver(forName: .a, on: loop) { note in
                log.add("outer \(note.text)")
                if note.text == "2" { return }
                other.remove()
                added.add(center.addObserver(forName: .a, on: loop) { log.add("added \($0.text)") })
                // Another notification waits now, so this one is not delivered at once.
                center.post(Notification(.b, "from inside"))
            }
            try poster.runLoop.performAndWait { center.post(Notification(.a, "1")) }
            try poster.runLoop.performAndWait { center.post(Notification(.b, "from outside")) }
            loop.run(in: .default)
            center.post(Notification(.a, "2"))
            for token in [token, inner, direct] + added.entries { token.remove() }
            poster.stop()
            poster.join()
        }
        #expect(
            log.entries == [
                "direct from outside", "other", "outer 1", "direct from inside", "inner from outside",
                "inner from inside", "outer 2", "added 2",
            ])
    }

    @Test func `a handler that stops the loop loses none of the notifications behind it`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let token = center.addObserver(forName: .a, on: loop) { note in
                log.add(note.text)
                loop.stop()
            }
            let texts = (1...5).map(String.init)
            try poster.runLoop.performAndWait { for text in texts { center.post(Notification(.a, text)) } }
            // Each run ends early, and discards no notification.
            var runs = 0
            while log.entries.count < 5 && runs < 20 {
                loop.run(in: .default, until: .hang)
                runs += 1
            }
            #expect(log.entries == texts)
            token.remove()
            poster.stop()
            poster.join()
        }
    }

    // Guarantees: A handler that is registered on a loop is called on that loop's thread and on no other.
    @Test func `a handler on two loops and on none is called once for each, on its thread`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        let targets = try ["one", "two"].map { try RunLoopThread(name: $0) }
        let poster = try RunLoopThread(name: "poster")
        let handler: @Sendable (Notification) -> Void = { _ in log.add(RunLoop.current.name) }
        var tokens = targets.map { center.addObserver(forName: .a, on: $0.runLoop, using: handler) }
        tokens.append(center.addObserver(forName: .a, using: handler))
        try poster.runLoop.performAndWait { center.post(name: .a) }
        for target in targets { try target.runLoop.performAndWait {} }
        #expect(log.entries.sorted() == ["one", "poster", "two"])
        // Each token stands for an observation of its own.
        tokens[0].remove()
        try poster.runLoop.performAndWait { center.post(name: .a) }
        for target in targets { try target.runLoop.performAndWait {} }
        #expect(log.entries.sorted() == ["one", "poster", "poster", "two", "two"])
        for token in tokens { token.remove() }
        for thread in targets + [poster] { thread.stop() }
        for thread in targets + [poster] { thread.join() }
    }

    @Test func `a queue's notification is delivered once to each observer, on its own loop at once`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        let other = try RunLoopThread(name: "other")
        try onLoopThread { loop in
            let here = loop.name
            let note = { @Sendable (who: String) in log.add("\(who) on \(RunLoop.current.name)") }
            let tokens = [
                center.addObserver(forName: .a) { _ in note("direct") },
                center.addObserver(forName: .a, on: loop) { _ in note("here") },
                center.addObserver(forName: .a, on: other.runLoop) { _ in note("other") },
                center.addObserver(forName: .a) { _ in note("last") },
            ]
            let (isHeld, mayGoOn) = (Gate(), Gate())
            other.runLoop.perform {
                isHeld.open()
                #expect(mayGoOn.wait())
            }
            #expect(isHeld.wait())
            let queue = NotificationQueue(notificationCenter: center)
            for _ in 0..<3 { queue.enqueue(Notification(name: .a), postingStyle: .asap) }
            #expect(log.entries.isEmpty)
            loop.run(in: .default)
            #expect(log.entries == ["direct on \(here)", "here on \(here)", "last on \(here)"])
            mayGoOn.open()
            try other.runLoop.performAndWait {}
            #expect(log.entries.count == 4)
            #expect(log.entries.last == "other on other")
            for token in tokens { token.remove() }
        }
        other.stop()
        other.join()
    }
}
