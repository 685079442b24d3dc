import Notifications
import RunLoops
import Synchronization
import TestSupport
import Testing

/// Three programs for delivering notifications to particular threads, each with the outcome it is known for.
@Suite struct ProgramTests {
    @Test func `without a thread to deliver on, the handler runs on the posting thread`() throws {
        let center = NotificationCenter()
        let log = Log<Bool>()
        let poster = try RunLoopThread(name: "poster")
        let token = center.addObserver(forName: .init("work done")) { _ in log.add(poster.runLoop.isCurrent) }
        try poster.runLoop.performAndWait { center.post(name: .init("work done")) }
        token.remove()
        poster.stop()
        poster.join()
        #expect(log.entries == [true])
    }

    /// The recipe by hand: a queue, a lock and a signal port in the common modes, and one method for all of it.
    private final class Mailroom: Sendable {
        private let queue = Guarded<[Notification]>([])
        private let port = Port<Void>()
        private let loop = RunLoop.current
        private let handle: @Sendable (Notification) -> Void

        init(handle: @escaping @Sendable (Notification) -> Void) { self.handle = handle }

        func open() { loop.add(port, forMode: .common) { [weak self] in self?.drain() } }

        func close() { port.invalidate() }

        func process(_ notification: Notification) {
            if loop.isCurrent { return handle(notification) }
            queue.withLock { $0.append(notification) }
            try? port.send()
        }

        private func drain() {
            // Until it is empty: signals merge, so one may stand for many.
            while true {
                let taken = queue.withLock { queue in
                    defer { queue = [] }
                    return queue
                }
                if taken.isEmpty { return }
                for notification in taken { handle(notification) }
            }
        }
    }

    @Test func `the recipe by hand loses none of many notifications though its signals merge`() throws {
        let perThread = 25_000
        let center = NotificationCenter()
        let tally = Tally()
        try onLoopThread { loop in
            let mailroom = Mailroom { _ in
                if tally.count(isAtHome: loop.isCurrent) == 4 * perThread { loop.stop() }
            }
            mailroom.open()
            let token = center.addObserver(forName: .init("tick")) { mailroom.process($0) }
            let posters = try (0..<4).map { try RunLoopThread(name: "poster \($0)") }
            for poster in posters {
                poster.runLoop.perform {
                    for _ in 0..<perThread { center.post(name: .init("tick")) }
                }
            }
            loop.run(until: .now + .seconds(60))
            token.remove()
            mailroom.close()
            for poster in posters { poster.stop() }
            for poster in posters { poster.join() }
        }
        #expect(tally.received == 4 * perThread)
        #expect(tally.elsewhere == 0)
    }

    /// Counts calls, and those on a wrong thread.
    private final class Tally: Sendable {
        private let calls = Atomic<Int>(0)
        private let strays = Atomic<Int>(0)

        var received: Int { calls.load(ordering: .relaxed) }
        var elsewhere: Int { strays.load(ordering: .relaxed) }

        func count(isAtHome: Bool) -> Int {
            if !isAtHome { strays.add(1, ordering: .relaxed) }
            return calls.add(1, ordering: .relaxed).newValue
        }
    }

    @Test func `several observers on several threads need no port of their own`() throws {
        let perThread = 2_000
        let center = NotificationCenter()
        let targets = try (0..<3).map { try RunLoopThread(name: "target \($0)") }
        let posters = try (0..<4).map { try RunLoopThread(name: "poster \($0)") }
        let counts = Ledger()
        var tokens: [ObservationToken] = []
        for (index, target) in targets.enumerated() {
            for observer in 0..<2 {
                tokens.append(
                    center.addObserver(forName: .init("tick"), on: target.runLoop) { notification in
                        let poster = notification.userInfo["poster"] as? Int ?? -1
                        let number = notification.userInfo["number"] as? Int ?? -1
                        counts.take(
                            observer: index * 2 + observer, poster: poster, number: number,
                            isAtHome: target.runLoop.isCurrent)
                    })
            }
        }
        for (index, poster) in posters.enumerated() {
            poster.runLoop.perform {
                for number in 0..<perThread {
                    center.post(name: .init("tick"), userInfo: ["poster": index, "number": number])
                }
            }
        }
        for poster in posters { try poster.runLoop.performAndWait {} }
        for target in targets { try target.runLoop.performAndWait {} }
        for token in tokens { #expect(token.deliveryCounts?.delivered == 4 * perThread) }
        #expect(counts.failures == 0)
        #expect(counts.total == 6 * 4 * perThread)
        for thread in targets + posters { thread.stop() }
        for thread in targets + posters { thread.join() }
    }

    /// Counts what six observers get from four posters, and whether it was in order and at home.
    private final class Ledger: Sendable {
        private struct State {
            var next: [Int: Int] = [:]
            var failures = 0
            var total = 0
        }
        private let state = Guarded(State())

        var failures: Int { state.withLock { $0.failures } }
        var total: Int { state.withLock { $0.total } }

        func take(observer: Int, poster: Int, number: Int, isAtHome: Bool) {
            state.withLock { state in
                let key = observer * 16 + poster
                if state.next[key, default: 0] != number || !isAtHome { state.failures += 1 }
                state.next[key] = number + 1
                state.total += 1
            }
        }
    }
}
