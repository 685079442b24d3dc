internal import CThreadControl
internal import RunLoops
internal import Synchronization

/// Keeps a loop busy with more messages than one pass serves.
final class LoadGenerator: Sendable {
    private let loop: RunLoop
    private let port = Port<Int>(queueLimit: .unlimited)
    private let threads = [WorkerThread(), WorkerThread()]
    private let feeds = Atomic<Bool>(false)
    private let sent = Atomic<Int>(0)
    private let received = Atomic<Int>(0)

    /// The number of messages under way, which is enough for many passes.
    private static let window = 32_768
    /// The number of blocks that perform themselves again, which is more than one pass serves.
    private static let chains = 512

    init(loop: RunLoop) throws {
        self.loop = loop
        let port = port
        try loop.performAndWait { [self] in
            RunLoop.current.add(port, forMode: .default) { [unowned self] _ in receive() }
        }
    }

    /// The number of messages that the loop has received.
    var count: Int { received.load(ordering: .relaxed) }

    /// Starts the load, and waits until the loop is busy.
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

    /// Ends the load, and waits until the loop has received every message.
    ///
    /// - Throws: ``Miscount`` if a message was lost or arrived twice.
    func stop(_ load: Load) throws(Miscount) {
        feeds.store(false, ordering: .relaxed)
        if load == .own {
            // Queued blocks run once more, and increase `sent`. The second wait is for a block that loaded `feeds` just before the
            // store and queued itself behind the first wait.
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
                // The final count detects a refused message.
                do { try port.send(0) } catch { return }
            } else {
                loop.perform { [self] in receive() }
            }
        }
    }

    /// Sends and receives one message on the loop, and performs itself again.
    private func again() {
        sent.add(1, ordering: .relaxed)
        receive()
        if feeds.load(ordering: .relaxed) { loop.perform { [self] in again() } }
    }

    /// Receives a message on the loop.
    ///
    /// Receiving takes about as long as sending, so the loop never catches up.
    @inline(__always)
    private func receive() {
        for _ in 0..<16 { bench_pause() }
        received.add(1, ordering: .relaxed)
    }

    private func sleepShortly() { bench_sleep(200_000) }
}
