import Glibc
import RunLoops
import TestSupport
import Testing

@testable import Notifications

/// The removal guarantee for deliveries on a loop.
@Suite struct RedirectedRemovalTests {
    private static let custom = RunLoop.Mode("custom")

    /// A loop that is blocked in a handler, so that notifications wait.
    private struct HeldLoop {
        let target: RunLoopThread
        let poster: RunLoopThread
        private let mayGoOn = Gate()
        var loop: RunLoop { target.runLoop }

        init() throws {
            target = try RunLoopThread(name: "target")
            poster = try RunLoopThread(name: "poster")
            let isHeld = Gate()
            target.runLoop.perform { [mayGoOn] in
                isHeld.open()
                #expect(mayGoOn.wait())
            }
            #expect(isHeld.wait())
        }

        /// Unblocks the loop, and waits until it has delivered the waiting notifications.
        func letGo() throws {
            mayGoOn.open()
            try loop.performAndWait {}
        }

        func end() {
            for thread in [target, poster] { thread.stop() }
            for thread in [target, poster] { thread.join() }
        }
    }

    // Guarantees: After ``ObservationToken/remove()`` has returned, no call of the handler starts; after
    // ``ObservationToken/removeAndWait(fileID:line:)`` or ``ObservationToken/removed()``, none is running.
    @Test func `a removal on another thread discards waiting notifications`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        let held = try HeldLoop()
        let removed = center.addObserver(forName: .a, on: held.loop) { _ in log.add("removed") }
        let stays = center.addObserver(forName: .a, on: held.loop) { _ in log.add("stays") }
        try held.poster.runLoop.performAndWait { for _ in 0..<10 { center.post(name: .a) } }
        removed.remove()
        try held.letGo()
        #expect(log.entries == Array(repeating: "stays", count: 10))
        #expect(removed.statistics == ObservationToken.Statistics())
        stays.remove()
        held.end()
    }

    @Test func `a last token destroyed while notifications wait ends its observer on the loop`()
        throws
    {
        let center = NotificationCenter()
        let log = Log<String>()
        let held = try HeldLoop()
        let loop = held.loop
        func register() -> ObservationToken {
            let canary = Canary { log.add(loop.isCurrent ? "gone at home" : "gone elsewhere") }
            return center.addObserver(forName: .a, on: loop) { _ in
                canary.sing()
                log.add("called")
            }
        }
        func dropLater(_ token: ObservationToken) {
            held.poster.runLoop.perform {
                for _ in 0..<10 { center.post(name: .a) }
                // The block owns the token, and destroys it at its end.
                _ = token.hashValue
            }
        }
        dropLater(register())
        try held.poster.runLoop.performAndWait {}
        #expect(log.entries.isEmpty)
        try held.letGo()
        #expect(log.entries == ["gone at home"])
        held.end()
    }

    @Test(arguments: [false, true]) func `a handler that removes all observers is the last one called`(
        isOwnThread: Bool
    ) throws {
        let center = NotificationCenter()
        let log = Log<Int>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let tokens = Log<ObservationToken>()
            for id in 0..<6 {
                // Some observers have a queue of waiting notifications, and some do not.
                let capacities: [NotificationCenter.Capacity] = [
                    .unlimited, .bounded(10, .dropOldest), .coalescing([]),
                ]
                tokens.add(
                    center.addObserver(
                        forName: id.isMultiple(of: 2) ? .a : nil, on: loop, capacity: capacities[id % 3]
                    ) { _ in
                        log.add(id)
                        for token in tokens.entries { token.remove() }
                    })
            }
            if isOwnThread {
                center.post(name: .a)
            } else {
                try poster.runLoop.performAndWait { for _ in 0..<5 { center.post(name: .a) } }
            }
            loop.run(in: .default)
            for token in tokens.entries { #expect(token.statistics?.delivered ?? 0 <= 1) }
            poster.stop()
            poster.join()
        }
        #expect(log.entries == [0])
    }

    @Test func `an observer that was removed while its mode did not run is not called when it runs`() throws {
        let center = NotificationCenter()
        let log = Log<Int>()
        try onLoopThread { loop in
            let poster = try RunLoopThread(name: "poster")
            let token = center.addObserver(forName: .a, on: loop, inModes: [Self.custom]) { _ in log.add(1) }
            try poster.runLoop.performAndWait { center.post(name: .a) }
            loop.run(in: .default)
            // No call runs, so there is no wait, not even on the loop's own thread.
            token.removeAndWait()
            loop.run(in: Self.custom)
            poster.stop()
            poster.join()
        }
        #expect(log.entries.isEmpty)
    }

    @Test func `removing and waiting returns when the call on the loop has returned`() throws {
        for _ in 0..<10 {
            let center = NotificationCenter()
            let log = Log<String>()
            let target = try RunLoopThread(name: "target")
            let (isRunning, mayEnd) = (Gate(), Gate())
            let token = center.addObserver(forName: .a, on: target.runLoop) { _ in
                isRunning.open()
                #expect(mayEnd.wait())
                log.add("call ends")
            }
            for _ in 0..<2 { center.post(name: .a) }
            #expect(isRunning.wait())
            let helper = try Threads(1) { _ in
                token.registration.expectWaits(1)
                mayEnd.open()
            }
            token.removeAndWait()
            log.add("waited")
            try helper.join()
            try target.runLoop.performAndWait {}
            #expect(log.entries == ["call ends", "waited"])
            target.stop()
            target.join()
        }
    }

    @Test func `a task can await the end of the call on the loop`() async throws {
        let center = NotificationCenter()
        let log = Log<String>()
        let target = try RunLoopThread(name: "target")
        let (isRunning, mayEnd) = (Gate(), Gate())
        let token = center.addObserver(forName: .a, on: target.runLoop) { _ in
            isRunning.open()
            #expect(mayEnd.wait())
            log.add("call ends")
        }
        center.post(name: .a)
        let helper = try Threads(1) { _ in
            #expect(isRunning.wait())
            token.registration.expectWaits(1)
            mayEnd.open()
        }
        while !hasOpened(isRunning) { await Task.yield() }
        await token.removed()
        log.add("awaited")
        try joined(helper)
        #expect(log.entries == ["call ends", "awaited"])
        target.stop()
    }

    // Functions that are not asynchronous are allowed to block for a moment.
    private func hasOpened(_ gate: Gate) -> Bool { gate.wait(seconds: 0) }
    private func joined(_ threads: Threads) throws { try threads.join() }

    @Test(arguments: 0..<5 as Range<UInt64>)
    func `after any race with a removal, the count of deliveries equals the calls`(seed: UInt64) throws {
        let center = NotificationCenter()
        let target = try RunLoopThread(name: "target")
        let remover = try RunLoopThread(name: "remover")
        var random = SplitMix64(seed: seed)
        for round in 0..<2_000 {
            let (isNext, calls) = (Shared(), Shared())
            // This observer is called just before the other, so that the removal and the call start together.
            let before = center.addObserver(forName: .a, on: target.runLoop) { _ in isNext.increment() }
            let token = center.addObserver(forName: .a, on: target.runLoop) { _ in calls.increment() }
            let delay = Int.random(in: 0..<100, using: &random)
            remover.runLoop.perform {
                while isNext.count == 0 {}
                var spins = delay
                while spins > 0 { spins -= isNext.count }
                token.remove()
            }
            center.post(name: .a)
            try remover.runLoop.performAndWait {}
            try target.runLoop.performAndWait {}
            if token.statistics?.delivered != calls.count {
                Issue.record(
                    "round \(round): \(token.statistics?.delivered ?? -1) for \(calls.count) calls")
                break
            }
            before.remove()
        }
        for thread in [target, remover] { thread.stop() }
        for thread in [target, remover] { thread.join() }
    }

    @Test func `objects that a handler holds may use the center while its loop destroys them`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        let target = try RunLoopThread(name: "target")
        let loop = target.runLoop
        let direct = center.addObserver(forName: .b) { log.add("\($0.text), direct") }
        let redirected = center.addObserver(forName: .b, on: loop) { log.add("\($0.text), on the loop") }
        func register() -> ObservationToken {
            let canary = Canary {
                #expect(loop.isCurrent)
                center.post(Notification(.b, "last words"))
                center.addObserver(forName: .b, on: loop) { _ in }.remove()
            }
            return center.addObserver(forName: .a, on: loop) { _ in canary.sing() }
        }
        register().remove()
        try loop.performAndWait {}
        #expect(log.entries == ["last words, direct", "last words, on the loop"])
        for token in [direct, redirected] { token.remove() }
        target.stop()
        target.join()
    }
}
