internal import Glibc
internal import RunLoops
internal import Synchronization

/// Signals that merge: the handler must see the last number, whatever the number of signals.
///
/// A sender stores a number and signals. From time to time, the sender waits until the handler has seen the number. If a signal
/// between a sleep and a wake-up were lost, the sender would wait until its deadline.
final class SignalLoad: Load {
    let name = "signals"
    let remark = "sources and ports without messages; the handler sees the last number"
    let tally = Tally()
    private let senders = Senders(2)
    private let thread: RunLoopThread

    /// The number that a sender stores before it signals, and the number that the handler saw last.
    private final class Notice: Sendable {
        let stored = Atomic<Int>(0)
        let seen = Atomic<Int>(0)

        func look(_ tally: Tally) {
            let now = stored.load(ordering: .acquiring)
            let before = seen.load(ordering: .relaxed)
            if now < before { tally.misordered.add(1, ordering: .relaxed) }
            seen.store(now, ordering: .releasing)
            tally.received.add(now - before, ordering: .relaxed)
        }
    }

    init() throws { thread = try RunLoopThread(name: "soak signals") }

    func start(seed: UInt64) throws {
        let notices = [Notice(), Notice()]
        let port = Port<Void>()
        let source = try thread.runLoop.performAndWait { [tally] in
            let loop = RunLoop.current
            let source = ManualSource { notices[0].look(tally) }
            loop.add(source, forMode: .default)
            loop.add(port, forMode: .default) { notices[1].look(tally) }
            return source
        }
        try senders.start(seed: seed) { [tally] sender in
            let notice = notices[sender]
            return { random in
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    tally.sendOne()
                    notice.stored.add(1, ordering: .acquiringAndReleasing)
                    if sender == 0 {
                        source.signal()
                    } else {
                        do { try port.send() } catch {
                            tally.fault("a port refused a signal: \(error)")
                        }
                    }
                }
                guard random.onceIn(2) else { return }
                let end = ContinuousClock.now + .seconds(30)
                let stored = notice.stored.load(ordering: .relaxed)
                while notice.seen.load(ordering: .acquiring) < stored {
                    if ContinuousClock.now > end { return tally.fault("a signal was lost") }
                    sched_yield()
                }
            }
        }
    }

    func stop() {
        senders.stop()
        tally.settle()
        thread.stop()
        thread.join()
    }
}
