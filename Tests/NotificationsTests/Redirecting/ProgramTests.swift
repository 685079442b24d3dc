import Notifications
import RunLoops
import Synchronization
import TestSupport
import Testing

/// Three programs that deliver notifications to particular threads, each of which prints its known outcome.
@Suite struct ProgramTests {
    /// Prints the outcome of a program.
    ///
    /// - Returns: The printed lines.
    private func report(_ lines: [String]) -> [String] {
        for line in lines { print(line) }
        return lines
    }

    @Test func `without a thread to deliver on, the handler runs on the posting thread`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        let (observing, posting) = (try RunLoopThread(name: "observing"), try RunLoopThread(name: "posting"))
        let token = try observing.runLoop.performAndWait {
            log.add("registered on \(RunLoop.current.name)")
            return center.addObserver(forName: .init("work done")) { _ in
                log.add("handled on \(RunLoop.current.name)")
            }
        }
        try posting.runLoop.performAndWait {
            center.post(name: .init("work done"))
            log.add("posted on \(RunLoop.current.name)")
        }
        token.remove()
        for thread in [observing, posting] { thread.stop() }
        for thread in [observing, posting] { thread.join() }
        #expect(
            report(log.entries) == ["registered on observing", "handled on posting", "posted on posting"])
    }

    /// The usual recipe without this package: a queue, a lock and a signal port in the common modes, and one method for all of it.
    private final class Mailroom: Sendable {
        private let queue = Guarded<[Notification]>([])
        private let port = Port<Void>()
        private let loop = RunLoop.current
        private let handle: @Sendable (Notification) -> Void
        /// The number of messages that the port has received.
        let signals = Shared()

        init(handle: @escaping @Sendable (Notification) -> Void) { self.handle = handle }

        func open() { loop.add(port, forMode: .common) { [weak self] in self?.drain() } }

        func close() { port.invalidate() }

        func process(_ notification: Notification) {
            if loop.isCurrent { return handle(notification) }
            queue.withLock { $0.append(notification) }
            do { try port.send() } catch { Issue.record(error) }
        }

        private func drain() {
            signals.increment()
            // Until the queue is empty: signals merge, so that one signal can stand for many.
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

    @Test func `the recipe by hand loses no notification, though its signals merge`() throws {
        let perThread = 25_000
        let center = NotificationCenter()
        let tally = Tally()
        let signals = try onLoopThread { loop in
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
            loop.run(until: .hang)
            token.remove()
            mailroom.close()
            for poster in posters { poster.stop() }
            for poster in posters { poster.join() }
            return mailroom.signals.count
        }
        let lines = report([
            "posted by 4 threads: \(4 * perThread), received: \(tally.received)",
            "received on another thread than the one that set it up: \(tally.elsewhere)",
            "signals heard: \(signals)",
        ])
        #expect(lines[0] == "posted by 4 threads: 100000, received: 100000")
        #expect(lines[1] == "received on another thread than the one that set it up: 0")
        #expect((1...4 * perThread).contains(signals))
    }

    /// Counts calls, and calls on a wrong thread.
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

    // Guarantees: A handler that is registered on a loop is called on that loop's thread and on no other.
    @Test func `observers on several threads need no port of their own`() throws {
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
        let lines = report(
            tokens.indices.map { "\(targets[$0 / 2].name), observer \($0 % 2): \(counts.summary(of: $0))" })
        #expect(
            lines == [
                "target 0, observer 0: 8000 received, 0 astray",
                "target 0, observer 1: 8000 received, 0 astray",
                "target 1, observer 0: 8000 received, 0 astray",
                "target 1, observer 1: 8000 received, 0 astray",
                "target 2, observer 0: 8000 received, 0 astray",
                "target 2, observer 1: 8000 received, 0 astray",
            ])
        for token in tokens { #expect(token.statistics?.delivered == 4 * perThread) }
        for thread in targets + posters { thread.stop() }
        for thread in targets + posters { thread.join() }
    }

    /// Counts the notifications that six observers get from four posters, and those that are out of order or on a wrong thread.
    private final class Ledger: Sendable {
        private struct State {
            var next: [Int: Int] = [:]
            /// The number of notifications that were out of order or on a wrong thread.
            var astray: [Int: Int] = [:]
            var received: [Int: Int] = [:]
        }
        private let state = Guarded(State())

        func summary(of observer: Int) -> String {
            state.withLock { "\($0.received[observer] ?? 0) received, \($0.astray[observer] ?? 0) astray" }
        }

        func take(observer: Int, poster: Int, number: Int, isAtHome: Bool) {
            state.withLock { state in
                let key = observer * 16 + poster
                if state.next[key, default: 0] != number || !isAtHome {
                    state.astray[observer, default: 0] += 1
                }
                state.next[key] = number + 1
                state.received[observer, default: 0] += 1
            }
        }
    }
}
