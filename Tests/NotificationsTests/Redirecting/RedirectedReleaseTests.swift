import RunLoops
import TestSupport
import Testing

@testable import Notifications

/// The time and the thread of the release of a handler on a loop.
@Suite struct RedirectedReleaseTests {
    private static let never = RunLoop.Mode("never")

    /// A holder of the token with which an observer ends itself.
    private final class Holder: Sendable {
        let token = Guarded<ObservationToken?>(nil)
    }

    @Test func `a handler may end its observation and run the loop, and lives until it returns`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        let target = try RunLoopThread(name: "target")
        let (isSet, isOver) = (Gate(), Gate())
        let holder = Holder()
        func observe() -> ObservationToken {
            let canary = Canary { log.add("released") }
            return center.addObserver(forName: .a, on: target.runLoop) { [canary] _ in
                #expect(isSet.wait())
                holder.token.withLock { $0 = nil }
                // The loop runs the block that the end of the observation has performed.
                for _ in 0..<10 { RunLoop.current.run(until: .distantPast) }
                canary.sing()
                log.add("called")
                target.runLoop.perform { isOver.open() }
            }
        }
        holder.token.withLock { $0 = observe() }
        center.post(name: .a)
        isSet.open()
        #expect(isOver.wait())
        target.stop()
        target.join()
        #expect(log.entries == ["called", "released"])
        #expect(center.names.snapshot(for: .a) == nil)
    }

    @Test func `a handler whose loop does not run is still destroyed on the loop's thread`() throws {
        let center = NotificationCenter()
        let log = Log<Bool>()
        let ended = Gate()
        try RunLoopThread.detach(name: "target") { loop in
            loop.addEndHandler { ended.open() }
            let canary = Canary { log.add(loop.isCurrent) }
            let token = loop.addObserver(forName: .a, in: center, inModes: [Self.never]) { _ in canary.sing()
            }
            let remover = try? BareThread {
                // A notification waits, so the observer must outlive it.
                center.post(name: .a)
                token.remove()
            }
            remover?.join()
        }
        #expect(ended.wait())
        while log.entries.isEmpty {}
        #expect(log.entries == [true])
    }

    @Test func `an object destroyed with the handler may wait for the end of the observation`() throws {
        final class Watch: Sendable {
            let holder = Holder()
            let over: Gate
            init(_ over: Gate) { self.over = over }
            deinit {
                holder.token.withLock { $0 }?.removeAndWait()
                over.open()
            }
        }
        let center = NotificationCenter()
        let over = Gate()
        do {
            let watch = Watch(over)
            let token = center.addObserver(forName: .a) { [watch] _ in
                watch.holder.token.withLock { $0 }?.remove()
            }
            watch.holder.token.withLock { $0 = token }
        }
        let poster = try BareThread { center.post(name: .a) }
        #expect(over.wait())
        poster.join()
    }

    @Test func `an awaited notification may be posted once more on another loop's thread`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        let target = try RunLoopThread(name: "target")
        let first = center.addObserver(forName: .a, on: target.runLoop) { note in
            log.add("first")
            if log.entries.count == 1 {
                // A notification for the same modes waits, so the posts of this handler are queued behind it.
                let poster = try? BareThread { center.post(name: .b) }
                poster?.join()
                center.post(note)
            }
        }
        let second = center.addObserver(forName: .b, on: target.runLoop) { _ in log.add("second") }
        try center.postAndWait(Notification(name: .a), before: .hang)
        #expect(log.entries == ["first", "second", "first"])
        target.stop()
        target.join()
        withExtendedLifetime((first, second)) {}
    }

    @Test
    func `an observer outlives its deliveries, and is not released early when they have arrived`()
        throws
    {
        let center = NotificationCenter()
        let target = try RunLoopThread(name: "target")
        let delivered = Gate()
        var token: ObservationToken? = center.addObserver(forName: .a, on: target.runLoop) { _ in
            delivered.open()
        }
        weak let observer = token?.registration.redirected
        center.post(name: .a)
        #expect(delivered.wait())
        try target.runLoop.performAndWait {}
        // A delivery that is counted as arrived can still be about to count its reference. So the observer lives until the loop has
        // run all blocks before the one that releases it.
        let (isHeld, goesOn) = (Gate(), Gate())
        target.runLoop.perform {
            isHeld.open()
            #expect(goesOn.wait())
        }
        #expect(isHeld.wait())
        #expect(observer?.lane.isEmpty == true)
        token = nil
        #expect(observer != nil)
        goesOn.open()
        target.stop()
        target.join()
        #expect(observer == nil)
    }
}
