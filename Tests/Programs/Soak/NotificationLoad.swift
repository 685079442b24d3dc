internal import Glibc
internal import Notifications
internal import RunLoops
internal import Synchronization
internal import TestSupport

/// Four threads post to observers on two loops and enqueue on a third, while other observers are added and removed.
final class NotificationLoad: Load {
    let name = "notifications"
    let remark = "4 posters, observers on 2 loops, a queue; none called after its removal"
    let tally = Tally()
    private let senders = Senders(4)
    private let center = NotificationCenter()
    private let threads: [RunLoopThread]
    private let queueThread: RunLoopThread

    private static let names = (0..<3).map { Notification.Name("soak \($0)") }

    init() throws {
        threads = try (0..<2).map { try RunLoopThread(name: "soak observer \($0)") }
        queueThread = try RunLoopThread(name: "soak queue")
    }

    /// The notifications of each thread, as one observer receives them.
    private final class Sequences: Sendable {
        private let all = Mutex((0..<4).map { _ in SenderSequence() })

        func receive(_ notification: Notification, for tally: Tally) {
            guard let sender = notification.userInfo["sender"] as? Int,
                let number = notification.userInfo["number"] as? Int
            else { return tally.fault("a notification arrived without its values") }
            all.withLock { $0[sender].receive(number, for: tally) }
        }
    }

    func start(seed: UInt64) throws {
        var tokens: [ObservationToken] = []
        for thread in threads {
            for name in Self.names {
                let sequences = Sequences()
                tokens.append(
                    center.addObserver(forName: name, on: thread.runLoop) { [tally] in
                        sequences.receive($0, for: tally)
                    })
            }
            try churn(on: thread, seed: seed)
        }
        let queued = Sequences()
        let queue = try queueThread.runLoop.performAndWait { [center] in
            NotificationQueue(notificationCenter: center)
        }
        tokens.append(
            center.addObserver(forName: Notification.Name("queued")) { [tally] in
                queued.receive($0, for: tally)
            })
        observations.withLock { $0 = tokens }
        try senders.start(seed: seed) { [center, tally, queueThread, observers = threads.count] sender in
            var numbers = Self.names.map { _ in 0 }
            var enqueued = 0
            return { random in
                for _ in 0..<32 {
                    let index = Int.random(in: 0..<Self.names.count, using: &random)
                    tally.sent.add(observers, ordering: .relaxed)
                    center.post(
                        name: Self.names[index], userInfo: ["sender": sender, "number": numbers[index]])
                    numbers[index] += 1
                }
                for _ in 0..<8 {
                    tally.sendOne()
                    queue.enqueue(
                        Notification(
                            name: Notification.Name("queued"),
                            userInfo: ["sender": sender, "number": enqueued]),
                        postingStyle: .asap, coalesceMask: [])
                    enqueued += 1
                }
                // Limits the notifications in flight, because observers and queues keep any number.
                if random.onceIn(4) {
                    do {
                        try center.postAndWait(
                            Notification(name: Notification.Name("nothing")), before: .now + .seconds(60))
                        try queueThread.runLoop.performAndWait(before: .now + .seconds(60)) {}
                    } catch { tally.fault("a post that waits failed: \(error)") }
                }
                // Waits for observers whose loops are behind, too.
                while tally.missing < -200_000 { sched_yield() }
            }
        }
    }

    /// Adds observers on a loop, and removes each of them after some time, on the loop's thread.
    private func churn(on thread: RunLoopThread, seed: UInt64) throws {
        try thread.runLoop.performAndWait { [center, tally] in
            var random = SplitMix64(seed: seed)
            let timer = Timer(timeInterval: .milliseconds(1), repeats: true) { _ in
                let isRemoved = Latch()
                let name = Self.names.randomElement(using: &random)
                let token = center.addObserver(forName: name, on: RunLoop.current) { _ in
                    if isRemoved.isSet { tally.fault("an observer was called after its removal") }
                }
                RunLoop.current.perform(after: .microseconds(Int.random(in: 0...4_000, using: &random))) {
                    token.remove()
                    isRemoved.set()
                }
            }
            RunLoop.current.add(timer, forMode: .default)
        }
    }

    /// The observations of the load, until it stops.
    private let observations = Mutex<[ObservationToken]>([])

    func stop() {
        senders.stop()
        tally.settle()
        for thread in threads + [queueThread] {
            thread.stop()
            thread.join()
        }
        observations.withLock { $0 = [] }
    }
}
