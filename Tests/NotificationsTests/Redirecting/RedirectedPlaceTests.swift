import RunLoops
import TestSupport
import Testing

@testable import Notifications

/// Redirected notifications wait in one redirector for each loop.
@Suite struct RedirectedPlaceTests {
    private static let custom = RunLoop.Mode("custom")

    @Test func `a redirector forgets the modes of observers that were removed`() throws {
        try onLoopThread { loop in
            let center = NotificationCenter()
            let log = Log<String>()
            let redirector = NotificationRedirector.of(loop)
            let kept = center.addObserver(forName: .a, on: loop) { log.add($0.text) }
            for number in 0..<100 {
                let mode = RunLoop.Mode("custom \(number)")
                let token = center.addObserver(forName: .a, on: loop, inModes: [mode]) { _ in }
                token.remove()
                // The loop runs a block that holds the observer until all its notifications have arrived.
                loop.run(in: mode, until: .now)
            }
            #expect(redirector.laneCount < 10)
            center.post(Notification(.a, "kept"))
            #expect(log.entries == ["kept"])
            kept.remove()
        }
    }

    @Test func `there is one redirector for a loop, whatever the center, as long as an observer holds it`()
        throws
    {
        let (target, other) = (try RunLoopThread(name: "target"), try RunLoopThread(name: "other"))
        weak var alive: NotificationRedirector?
        do {
            let redirector = NotificationRedirector.of(target.runLoop)
            alive = redirector
            #expect(redirector === NotificationRedirector.of(target.runLoop))
            #expect(redirector !== NotificationRedirector.of(other.runLoop))
            #expect(redirector.runLoop == target.runLoop)
        }
        #expect(alive == nil)
        var tokens = [NotificationCenter(), .default].map {
            $0.addObserver(forName: .init("one redirector"), on: target.runLoop) { _ in }
        }
        alive = NotificationRedirector.of(target.runLoop)
        #expect(alive != nil)
        #expect(tokens.allSatisfy { $0.registration.redirected?.redirector === alive })
        tokens = []
        // The handlers are destroyed on the loop's thread.
        try target.runLoop.performAndWait {}
        #expect(alive == nil)
        for thread in [target, other] { thread.stop() }
        for thread in [target, other] { thread.join() }
    }

    @Test func `while the loop does not run notifications wait, also for a mode that becomes common`() throws
    {
        let center = NotificationCenter()
        let log = Log<String>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let token = center.addObserver(forName: .a, on: loop) { note in
                log.add("\(note.text) in \(loop.currentMode?.rawValue ?? "none")")
            }
            try poster.runLoop.performAndWait {
                for text in ["1", "2"] { center.post(Notification(.a, text)) }
            }
            #expect(log.entries.isEmpty)
            #expect(loop.run(in: Self.custom, until: .hang) == .finished)
            #expect(log.entries.isEmpty)
            loop.addCommonMode(Self.custom)
            #expect(loop.run(in: Self.custom, until: .hang) == .finished)
            token.remove()
            poster.stop()
            poster.join()
        }
        #expect(log.entries == ["1 in custom", "2 in custom"])
    }

    @Test func `a post of the loop's own thread in another mode waits, and so does the next one`()
        throws
    {
        let center = NotificationCenter()
        let log = Log<String>()
        try onLoopThread { loop in
            let usual = center.addObserver(forName: .a, on: loop) { log.add("usual \($0.text)") }
            let special = center.addObserver(forName: .a, on: loop, inModes: [Self.custom]) {
                log.add("special \($0.text)")
            }
            loop.perform(inModes: [Self.custom]) {
                center.post(Notification(.a, "1"))
                log.add("posted")
            }
            loop.run(in: Self.custom)
            // The mode has changed and the other observer is removed, but the first notification still waits.
            special.remove()
            center.post(Notification(.a, "2"))
            log.add("posted")
            loop.run(in: .default)
            center.post(Notification(.a, "3"))
            log.add("posted")
            usual.remove()
        }
        #expect(
            log.entries == [
                "special 1", "posted", "posted", "usual 1", "usual 2", "usual 3", "posted",
            ])
    }

    @Test func `for a main loop that cannot run, notifications are discarded and counted`() throws {
        let center = NotificationCenter()
        let canary = Gate()
        // The tests have given the main thread away, as any program with an asynchronous main does.
        let token = center.addObserver(forName: .a, on: .main) { _ in Issue.record("the main loop runs") }
        do {
            let fact = Canary(canary)
            center.post(name: .a, userInfo: ["fact": fact])
        }
        #expect(canary.wait())
        #expect(token.statistics == .init(delivered: 0, dropped: 0, undelivered: 1))
        token.remove()
    }

    @Test func `a waiting notification keeps its object and facts until its delivery, no longer`() throws {
        let center = NotificationCenter()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let alive = Shared()
            let seen = Shared()
            let token = center.addObserver(forName: .a, on: loop) { note in
                seen.increment()
                #expect(note.object is Counted)
                #expect(note.userInfo["fact"] is Counted)
                #expect(alive.count == 2)
            }
            try poster.runLoop.performAndWait {
                center.post(name: .a, object: Counted(alive), userInfo: ["fact": Counted(alive)])
            }
            #expect(alive.count == 2)
            loop.run(in: .default)
            #expect(seen.count == 1)
            #expect(alive.count == 0)
            token.remove()
            poster.stop()
            poster.join()
        }
    }

    @Test func `notifications that wait are delivered although the observed object was destroyed`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let alive = Shared()
            let token = try poster.runLoop.performAndWait {
                let object = Counted(alive)
                let token = center.addObserver(forName: .a, object: object, on: loop) { log.add($0.text) }
                center.post(Notification(.a, "mine", object: object))
                return token
            }
            center.post(Notification(.a, "another's", object: Feed()))
            loop.run(in: .default)
            #expect(log.entries == ["mine"])
            #expect(alive.count == 0)
            token.remove()
            poster.stop()
            poster.join()
        }
    }

    @Test func `a post does not wait for its observer's loop, and the thread needs no owner`()
        throws
    {
        let center = NotificationCenter()
        let log = Log<String>()
        let (isReady, isHeld, mayGoOn, isDone, hasEnded) = (Gate(), Gate(), Gate(), Gate(), Gate())
        func register() throws -> ObservationToken {
            let target = Guarded<RunLoop?>(nil)
            // Only the loop refers to the thread.
            try RunLoopThread.detach(name: "target") { loop in
                target.withLock { $0 = loop }
                loop.add(Port<Void>(), forMode: .default) {}
                isReady.open()
                loop.run()
                hasEnded.open()
            }
            #expect(isReady.wait())
            let loop = try #require(target.withLock { $0 })
            loop.perform {
                isHeld.open()
                #expect(mayGoOn.wait())
                log.add("something else")
            }
            return center.addObserver(forName: .a, on: loop) { note in
                log.add(note.text)
                if note.text == "2" { isDone.open() }
            }
        }
        let token = try register()
        #expect(isHeld.wait())
        center.post(Notification(.a, "1"))
        log.add("posted")
        mayGoOn.open()
        center.post(Notification(.a, "2"))
        #expect(isDone.wait())
        #expect(log.entries.filter { $0 != "posted" } == ["something else", "1", "2"])
        #expect(log.entries.firstIndex(of: "posted") == 0)
        token.registration.redirected?.redirector.runLoop.stop()
        token.remove()
        #expect(hasEnded.wait())
    }
}
