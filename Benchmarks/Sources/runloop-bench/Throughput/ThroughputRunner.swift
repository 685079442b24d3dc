internal import CThreadControl
internal import Glibc
internal import Synchronization

/// Runs the rounds of all subjects, with the same producers and the same code.
final class ThroughputRunner: Sendable {
    /// The maximum number of producers.
    static let mostProducers = 8

    /// The number of messages between two checks of the clock and of the window.
    private static let chunk = 64

    /// The nanoseconds after which a message that has not arrived counts as lost.
    private static let patience: Int64 = 10_000_000_000

    /// Receives the messages of all subjects.
    let sink = Sink()

    private let producers = (0..<ThroughputRunner.mostProducers).map { _ in WorkerThread() }
    /// The maximum number of messages under way, or `.max` for no limit.
    private let window: Int
    /// The number of messages that earlier rounds have sent and accounted for.
    ///
    /// If one of these messages arrives late or twice, the count of the next round is wrong.
    private let accounted = Atomic<Int>(0)

    /// Starts the threads of the producers.
    ///
    /// - Parameter window: The maximum number of messages under way, or zero for no limit. Without a limit, a producer that is
    ///   faster than its consumer measures the allocator.
    init(window: Int) { self.window = window == 0 ? .max : window }

    /// The result of a round.
    struct Round {
        var messages = 0
        var seconds = 0.0
        var usage = ProcessUsage()

        /// Messages a second.
        var rate: Double { Double(messages) / seconds }
    }

    /// A failed round.
    enum Failure: Error {
        case sendFailed(any Error)
        /// The number of sent messages, and the number of messages that had arrived when the wait for the others timed out.
        case miscounted(sent: Int, received: Int)
        /// All messages have arrived, but with wrong values.
        case mistaken
    }

    /// Pins the consumers to the first processor, and the producers to the others.
    func place(_ channel: any MessageChannel, on machine: Machine) {
        let others = machine.processors.count > 1 ? Array(machine.processors.dropFirst()) : machine.processors
        channel.place(consumer: [machine.processors[0]])
        for (index, producer) in producers.enumerated() {
            producer.number.pin(to: [others[index % others.count]])
        }
        // The calling thread waits for the last message, and must not take the consumer's processor.
        ThreadNumber.current.pin(to: others)
    }

    /// Runs `count` producers for `length`, and waits until every message has arrived.
    func round(_ channel: any MessageChannel, producers count: Int, length: Duration) throws(Failure) -> Round
    {
        let start = StartingGate()
        let tally = Tally(base: accounted.load(ordering: .relaxed), sum: sink.sum)
        for (index, producer) in producers[..<count].enumerated() {
            producer.run { [self] in
                let end = start.wait() + length.nanoseconds
                produce(channel, producer: index, window: window, tally) { bench_now() < end }
            }
        }
        var result = Round()
        var end: Int64 = 0
        result.usage = ProcessUsage.of {
            start.open(threads: count)
            for producer in producers[..<count] { producer.wait() }
            end = drain(tally)
        }
        result.seconds = Double(end - start.time) / 1e9
        result.messages = tally.sent.load(ordering: .relaxed)
        try check(tally)
        return result
    }

    /// Counts the allocations of the whole process for each message, after all buffers have grown to their final size.
    ///
    /// At most 1,024 messages are under way, the default limit of a port. This is a steady stream and not a burst.
    ///
    /// - Returns: The allocations for each message, one figure for each stretch.
    func allocations(
        _ channel: any MessageChannel, stretches: Int, messages: Int
    ) throws(Failure) -> [Double] {
        let tally = Tally(base: accounted.load(ordering: .relaxed), sum: sink.sum)
        let counts = Mutex<[Double]>([])
        producers[0].run { [self] in
            var found = [Double](repeating: 0, count: stretches)
            for stretch in -1..<stretches {
                // Stretch -1 is the warm-up: queues and caches grow to their final size.
                let amount = stretch < 0 ? 10 * messages : messages
                let goal = tally.sent.load(ordering: .relaxed) + amount
                let count = AllocationCount()
                produce(channel, producer: 0, window: 1024, tally) {
                    tally.sent.load(ordering: .relaxed) < goal
                }
                _ = drain(tally)
                let allocations = count.stop()
                if stretch >= 0 { found[stretch] = Double(allocations) / Double(amount) }
            }
            counts.withLock { $0 = found }
        }
        producers[0].wait()
        try check(tally)
        return counts.withLock { $0 }
    }

    // MARK: - Private

    /// The sums of all producers of a round.
    private final class Tally: Sendable {
        let base, baseSum: Int
        let sent = Atomic<Int>(0)
        let sum = Atomic<Int>(0)
        let failure = Mutex<(any Error)?>(nil)

        init(base: Int, sum: Int) {
            self.base = base
            baseSum = sum
        }
    }

    private func produce(
        _ channel: any MessageChannel, producer: Int, window: Int, _ tally: Tally, while goesOn: () -> Bool
    ) {
        let limit = bench_now() + Self.patience
        var value = 0
        var sum = 0
        while goesOn() {
            let sent = tally.sent.add(Self.chunk, ordering: .relaxed).newValue
            while sent - (sink.received - tally.base) > window {
                giveWay()
                // A message was lost, which `check` reports.
                if bench_now() > limit { return }
            }
            do {
                sum &+= try channel.send(Self.chunk, from: value, producer: producer)
            } catch {
                tally.failure.withLock { $0 = error }
                break
            }
            value += Self.chunk
        }
        tally.sum.wrappingAdd(sum, ordering: .relaxed)
    }

    /// Pauses, so that the consumer keeps the cache line of the count for a while.
    private func giveWay() {
        for _ in 0..<16 { bench_pause() }
        sched_yield()
    }

    /// Waits until every message has arrived, and returns the time.
    private func drain(_ tally: Tally) -> Int64 {
        let limit = bench_now() + Self.patience
        let goal = tally.base + tally.sent.load(ordering: .relaxed)
        while sink.received < goal, bench_now() < limit { giveWay() }
        return bench_now()
    }

    private func check(_ tally: Tally) throws(Failure) {
        if let error = tally.failure.withLock({ $0 }) { throw .sendFailed(error) }
        let sent = tally.sent.load(ordering: .relaxed)
        let received = sink.received - tally.base
        if sent != received { throw .miscounted(sent: sent, received: received) }
        if sink.sum &- tally.baseSum != tally.sum.load(ordering: .relaxed) { throw .mistaken }
        accounted.store(sink.received, ordering: .relaxed)
    }
}
