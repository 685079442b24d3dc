import Glibc
import RunLoops
import Synchronization
import TestSupport
import Testing

@testable import Notifications

/// The removal guarantee when one thread removes and another one posts.
@Suite struct RemovalAcrossThreadsTests {
    /// A call that blocks until the test opens its gate.
    private struct HeldCall {
        let center = NotificationCenter()
        let log = Log<String>()
        let isRunning = Gate()
        let mayEnd = Gate()
        let poster: RunLoopThread
        let token: ObservationToken

        init() throws {
            poster = try RunLoopThread(name: "poster")
            token = center.addObserver(forName: .a) { [log, isRunning, mayEnd] _ in
                isRunning.open()
                #expect(mayEnd.wait())
                log.add("call ends")
            }
            poster.runLoop.perform { [center, log] in
                center.post(name: .a)
                log.add("posted")
            }
        }

        /// Waits until a number of removals wait for the call, and lets it end.
        func endOnceAwaited(by count: Int = 1) {
            token.registration.expectWaits(count)
            mayEnd.open()
        }

        func end() throws {
            try poster.runLoop.performAndWait {}
            poster.stop()
            poster.join()
        }
    }

    // Guarantees: After ``ObservationToken/remove()`` has returned, no call of the handler starts; after
    // ``ObservationToken/removeAndWait(fileID:line:)`` or ``ObservationToken/removed()``, none is running.
    @Test func `a removal does not wait for a call that runs, and none starts after it`() throws {
        let held = try HeldCall()
        #expect(held.isRunning.wait())
        held.token.remove()
        held.log.add("removed")
        held.center.post(name: .a)
        held.mayEnd.open()
        try held.end()
        #expect(held.log.entries == ["removed", "call ends", "posted"])
    }

    // Guarantees: After ``ObservationToken/remove()`` has returned, no call of the handler starts; after
    // ``ObservationToken/removeAndWait(fileID:line:)`` or ``ObservationToken/removed()``, none is running.
    @Test(arguments: 0..<10) func `removing and waiting returns when no call is running`(_: Int) throws {
        let held = try HeldCall()
        #expect(held.isRunning.wait())
        let helper = try Threads(1) { _ in held.endOnceAwaited() }
        held.token.removeAndWait()
        held.log.add("waited")
        try helper.join()
        try held.end()
        #expect(held.log.entries.filter { $0 != "posted" } == ["call ends", "waited"])
    }

    @Test func `later removals wait too, and all of them return`() throws {
        let held = try HeldCall()
        #expect(held.isRunning.wait())
        held.token.remove()
        let waiting = try Threads(3) { _ in
            held.token.removeAndWait()
            held.log.add("waited")
        }
        held.endOnceAwaited(by: 3)
        try waiting.join()
        try held.end()
        let log = held.log.entries.filter { $0 != "posted" }
        #expect(log == ["call ends", "waited", "waited", "waited"])
        held.token.removeAndWait()
    }

    // Guarantees: After ``ObservationToken/remove()`` has returned, no call of the handler starts; after
    // ``ObservationToken/removeAndWait(fileID:line:)`` or ``ObservationToken/removed()``, none is running.
    @Test func `a task can await the end of the running call`() async throws {
        let held = try HeldCall()
        let helper = try Threads(1) { _ in
            #expect(held.isRunning.wait())
            held.endOnceAwaited()
        }
        while !hasOpened(held.isRunning) { await Task.yield() }
        await held.token.removed()
        held.log.add("awaited")
        try joined(helper)
        try ended(held)
        #expect(held.log.entries.filter { $0 != "posted" } == ["call ends", "awaited"])
        await held.token.removed()
    }

    // Functions that are not asynchronous are allowed to block for a moment.
    private func hasOpened(_ gate: Gate) -> Bool { gate.wait(seconds: 0) }
    private func joined(_ threads: Threads) throws { try threads.join() }
    private func ended(_ held: HeldCall) throws { try held.end() }

    @Test func `a removal waits for the calls on all threads, also when they end one by one`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        let entered = (0..<3).map { _ in Gate() }
        let mayEnd = (0..<3).map { _ in Gate() }
        let token = center.addObserver(forName: .a) { note in
            guard let number = note.userInfo["number"] as? Int else { return }
            entered[number].open()
            #expect(mayEnd[number].wait())
            log.add("call ends")
        }
        let posters = try Threads(3) { number in center.post(name: .a, userInfo: ["number": number]) }
        for gate in entered { #expect(gate.wait()) }
        let waiting = try Threads(1) { _ in
            token.removeAndWait()
            log.add("waited")
        }
        token.registration.expectWaits(1)
        for gate in mayEnd { gate.open() }
        try posters.join()
        try waiting.join()
        #expect(log.entries == ["call ends", "call ends", "call ends", "waited"])
    }

    @Test(arguments: [Notification.Name.a, nil])
    func `an observer that another thread removes during a post is not called`(name: Notification.Name?)
        throws
    {
        let center = NotificationCenter()
        let log = Log<String>()
        let isRunning = Gate()
        let isRemoved = Gate()
        let first = center.addObserver(forName: .a) { _ in
            log.add("first")
            isRunning.open()
            #expect(isRemoved.wait())
        }
        let second = center.addObserver(forName: name) { _ in log.add("second") }
        let third = center.addObserver(forName: .a) { _ in log.add("third") }
        let poster = try Threads(1) { _ in center.post(name: .a) }
        #expect(isRunning.wait())
        second.remove()
        isRemoved.open()
        try poster.join()
        #expect(log.entries == ["first", "third"])
        first.remove()
        third.remove()
    }

    @Test func `objects that a handler holds are released after the call that is running`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        let isRunning = Gate()
        let isRemoved = Gate()
        let token: ObservationToken
        do {
            let canary = Canary { log.add("gone") }
            token = center.addObserver(forName: .a) { _ in
                isRunning.open()
                #expect(isRemoved.wait())
                log.add("call ends")
                canary.sing()
            }
        }
        let poster = try Threads(1) { _ in center.post(name: .a) }
        #expect(isRunning.wait())
        token.remove()
        log.add("removed")
        isRemoved.open()
        token.removeAndWait()
        log.add("waited")
        try poster.join()
        // Both of the last two follow the call. Their order is not promised.
        let entries = log.entries
        #expect(entries.filter { $0 != "waited" } == ["removed", "call ends", "gone"])
        #expect(entries.filter { $0 != "gone" } == ["removed", "call ends", "waited"])
    }
}
