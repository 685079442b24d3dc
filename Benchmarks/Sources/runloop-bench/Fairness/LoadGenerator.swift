internal import CThreadControl
internal import RunLoops
internal import Synchronization

/// Keeps a loop busy: there are always more messages than one pass serves.
final class LoadGenerator: Sendable {
    private let loop: RunLoop
    private let port = Port<Int>(queueLimit: .unlimited)
    private let threads = [WorkerThread(), WorkerThread()]
    private let feeds = Atomic<Bool>(false)
    private let sent = Atomic<Int>(0)
    private let received = Atomic<Int>(0)

    /// How many messages wait, or nearly: many passes' worth.
    private static let window = 32_768
    /// How many blocks perform themselves again: more than one pass serves.
    private static let chains = 512

    init(loop: RunLoop) throws {
        self.loop = loop
        let port = port
        try loop.performAndWait { [self] in
            RunLoop.current.add(port, forMode: .default) { [unowned self] _ in receive() }
        }
    }

    /// How many messages the loop has had.
    var count: Int { received.load(ordering: .relaxed) }

    /// Lets the loop be busy from now on, and waits until it is.
    func start(_ load: Load, on processors: [Int32]) {
        feeds.store(true, ordering: .relaxed)
        let before = count
        if load == .own {
            for _ in 0..<Self.chains { loop.perform { [self] in again() } }
        } else {
            for (index, thread) in threads.enumerated() {
                thread.number.pin(to: [processors[index % processors.count]])
                thread.run { [self] in feed(load) }
            }
        }
        let end = bench_now() + 10_000_000_000
        while count < before + 4 * Self.chains, bench_now() < end { sleepShortly() }
    }

    /// Ends it, and waits until the loop has had everything.
    ///
    /// - Throws: If something is missing, or came twice.
    func stop(_ load: Load) throws(Miscount) {
        feeds.store(false, ordering: .relaxed)
        if load == .own {
            // Those in line run once more, and the number of what was sent grows until then. Twice: a block that has looked
            // just before may stand behind the first one.
            for _ in 0..<2 {
                do { try loop.performAndWait {} } catch { throw Miscount(expected: 1, found: 0) }
            }
        } else {
            for thread in threads { thread.wait() }
        }
        let end = bench_now() + 10_000_000_000
        while sent.load(ordering: .relaxed) != count, bench_now() < end { sleepShortly() }
        try Miscount.check(expected: sent.load(ordering: .relaxed), found: count)
    }

    private func feed(_ load: Load) {
        while feeds.load(ordering: .relaxed) {
            if sent.load(ordering: .relaxed) - count > Self.window {
                bench_pause()
                continue
            }
            sent.add(1, ordering: .relaxed)
            if load == .port {
                // One that is refused is missed in the end.
                do { try port.send(0) } catch { return }
            } else {
                loop.perform { [self] in receive() }
            }
        }
    }

    /// Runs on the loop.
    private func again() {
        sent.add(1, ordering: .relaxed)
        receive()
        if feeds.load(ordering: .relaxed) { loop.perform { [self] in again() } }
    }

    /// Runs on the loop, for each message, and takes about as long as sending one: the loop never catches up.
    @inline(__always)
    private func receive() {
        for _ in 0..<16 { bench_pause() }
        received.add(1, ordering: .relaxed)
    }

    private func sleepShortly() { bench_sleep(200_000) }
}
