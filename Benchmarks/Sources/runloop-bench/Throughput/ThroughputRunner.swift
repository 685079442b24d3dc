internal import CAllocationCounter
internal import CThreadControl
internal import Glibc
internal import Synchronization

/// The producers, and the code that all rounds of all subjects run in.
final class ThroughputRunner: Sendable {
    /// As many producers as there can be.
    static let mostProducers = 8

    /// How many messages are sent between two looks at the clock and at the window.
    private static let chunk = 64

    /// For how many nanoseconds messages are waited for that do not come.
    private static let patience: Int64 = 10_000_000_000

    /// Where all subjects' messages end.
    let sink = Sink()

    private let producers = (0..<ThroughputRunner.mostProducers).map { _ in WorkerThread() }
    /// How many messages may be under way; `.max` for no limit.
    private let window: Int
    /// How many messages earlier rounds are known to have sent: one of theirs that comes twice, or late,
    /// spoils the count of the next.
    private let accounted = Atomic<Int>(0)

    /// Makes the producers' threads.
    ///
    /// - Parameter window: How many messages may be under way, or zero for no limit. A producer that is
    ///   faster than its consumer would otherwise measure the allocator.
    init(window: Int) { self.window = window == 0 ? .max : window }

    /// What a round measured.
    struct Round {
        var messages = 0
        var seconds = 0.0
        var usage = Usage()

        /// Messages a second.
        var rate: Double { Double(messages) / seconds }
    }

    /// A round that does not count.
    enum Failure: Error {
        case sendFailed(any Error)
        /// So many messages were sent, and so many had come when waiting for more was given up.
        case miscounted(sent: Int, received: Int)
        /// All came, but with other values.
        case mistaken
    }

    /// Puts the threads where they belong: consumers on the first processor, producers on the others.
    func place(_ channel: any MessageChannel, on machine: Machine) {
        let others = machine.processors.count > 1 ? Array(machine.processors.dropFirst()) : machine.processors
        channel.place(consumer: [machine.processors[0]])
        for (index, producer) in producers.enumerated() {
            producer.number.pin(to: [others[index % others.count]])
        }
        // This thread waits for the last message, and must not do that in the consumer's way.
        ThreadNumber.current.pin(to: others)
    }

    /// Lets `count` producers send for so long, and waits until everything has come.
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
        result.usage = Usage.of {
            start.go(threads: count)
            for producer in producers[..<count] { producer.wait() }
            end = drain(tally)
        }
        result.seconds = Double(end - start.time) / 1e9
        result.messages = tally.sent.load(ordering: .relaxed)
        try check(tally)
        return result
    }

    /// How many allocations a message costs once everything has its size, process-wide.
    ///
    /// As many messages are under way as a port holds by default: a steady stream, and not a burst.
    ///
    /// - Returns: Allocations for each message, of several stretches.
    func allocations(
        _ channel: any MessageChannel, stretches: Int, messages: Int
    ) throws(Failure) -> [Double] {
        let tally = Tally(base: accounted.load(ordering: .relaxed), sum: sink.sum)
        let counts = Mutex<[Double]>([])
        producers[0].run { [self] in
            var found = [Double](repeating: 0, count: stretches)
            for stretch in -1..<stretches {
                // The one before the first warms up: queues and caches grow to their size.
                let amount = stretch < 0 ? 10 * messages : messages
                let goal = tally.sent.load(ordering: .relaxed) + amount
                let before = bench_allocations()
                bench_allocations_count(true)
                produce(channel, producer: 0, window: 1024, tally) {
                    tally.sent.load(ordering: .relaxed) < goal
                }
                _ = drain(tally)
                bench_allocations_count(false)
                if stretch >= 0 { found[stretch] = Double(bench_allocations() - before) / Double(amount) }
            }
            counts.withLock { $0 = found }
        }
        producers[0].wait()
        try check(tally)
        return counts.withLock { $0 }
    }

    // MARK: - Private

    /// What all producers of a round did together.
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
                // A message was lost, which will be noticed.
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

    /// Waits a little: long enough that the count's cache line is left to the consumer meanwhile.
    private func giveWay() {
        for _ in 0..<16 { bench_pause() }
        sched_yield()
    }

    /// Waits until everything has come, and says when that was.
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
