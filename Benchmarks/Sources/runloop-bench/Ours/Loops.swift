internal import CThreadControl
internal import RunLoops

/// Loops of this package that wake each other up, with a message to a typed port or with `perform`.
///
/// Read the ratio of the parked port to raw first, which is the cost that the loop adds to the kernel's cost.
final class RunLoopPingPong: PingPong {
    private let near: RunLoopThread
    private let far: RunLoopThread
    private let nearPort = Port<Int>()
    private let farPort = Port<Int>()
    private let timer: RoundTripTimer
    private let usesPorts: Bool
    private let numbers: (near: ThreadNumber, far: ThreadNumber)

    /// Starts both threads.
    ///
    /// - Parameters:
    ///   - policy: The wait policy of both loops.
    ///   - usesPorts: True to send messages, false to perform blocks.
    ///   - timer: Measures the round trips.
    /// - Throws: The error of the system if it is out of threads or descriptors.
    init(policy: RunLoop.WaitPolicy, usesPorts: Bool, timer: RoundTripTimer) throws {
        self.timer = timer
        self.usesPorts = usesPorts
        near = try RunLoopThread(name: "near")
        far = try RunLoopThread(name: "far")
        let (nearPort, farPort) = (nearPort, farPort)
        numbers.far = try far.prepare(policy) {
            RunLoop.current.add(farPort, forMode: .default) { value in
                Self.send(value, to: nearPort, timer)
            }
        }
        numbers.near = try near.prepare(policy) {
            RunLoop.current.add(nearPort, forMode: .default) { value in
                if timer.answered() { Self.send(value &+ 1, to: farPort, timer) }
            }
        }
    }

    var nearThreads: [ThreadNumber] { [numbers.near] }
    var farThreads: [ThreadNumber] { [numbers.far] }

    func start() {
        let (near, far) = (near.runLoop, far.runLoop)
        near.perform { [usesPorts, farPort, timer] in
            timer.begin()
            if usesPorts { Self.send(0, to: farPort, timer) } else { Self.ping(near, far, timer) }
        }
    }

    var spinHits: Int? { near.runLoop.statistics.spinHits + far.runLoop.statistics.spinHits }

    private static func ping(_ near: RunLoop, _ far: RunLoop, _ timer: RoundTripTimer) {
        far.perform {
            near.perform {
                if timer.answered() { ping(near, far, timer) }
            }
        }
    }

    @inline(__always)
    private static func send(_ value: Int, to port: Port<Int>, _ timer: RoundTripTimer) {
        do { try port.send(value) } catch { timer.fail("Port.send: \(error)") }
    }
}

/// `perform` of this package, with a closure that captures one object.
///
/// Read the ratios to SwiftNIO, Dispatch and Foundation: the closure is the same.
final class PerformChannel: MessageChannel {
    private let thread: RunLoopThread
    private let payloads: [Payload]
    private let number: ThreadNumber

    init(sink: Sink) throws {
        payloads = Payload.each(for: sink)
        thread = try RunLoopThread(name: "consumer")
        number = try thread.prepare()
    }

    var consumerThreads: [ThreadNumber] { [number] }

    var kernelWrites: Int? { Int(thread.runLoop.statistics.kernelWrites) }

    func send(_ count: Int, from start: Int, producer: Int) -> Int {
        let payload = payloads[producer]
        let loop = thread.runLoop
        for _ in 0..<count { loop.perform { payload.deliver() } }
        return count &* payload.value
    }
}

/// Typed ports of this package: messages of one word, sent one or sixteen at a time.
///
/// Read the ratio of the unlimited port to the list first, with one producer.
final class PortChannel: MessageChannel, @unchecked Sendable {
    // Safe because each producer uses its own batch.
    private let batches: UnsafeMutablePointer<[Int]>
    private let thread: RunLoopThread
    private let port: Port<Int>
    private let number: ThreadNumber
    private let isBatched: Bool

    /// Starts the consumer.
    ///
    /// - Parameters:
    ///   - port: The port that the messages are sent to.
    ///   - policy: The wait policy of the loop, or `nil` for the default.
    ///   - isBatched: True to send sixteen messages at a time.
    ///   - sink: Receives the messages.
    /// - Throws: The error of the system if it is out of threads or descriptors.
    init(_ port: Port<Int>, policy: RunLoop.WaitPolicy? = nil, isBatched: Bool = false, sink: Sink) throws {
        self.port = port
        self.isBatched = isBatched
        batches = .allocate(capacity: ThroughputRunner.mostProducers)
        for producer in 0..<ThroughputRunner.mostProducers {
            (batches + producer).initialize(to: [Int](repeating: 0, count: 16))
        }
        thread = try RunLoopThread(name: "consumer")
        number = try thread.prepare(policy) {
            RunLoop.current.add(port, forMode: .default) { message in sink.receive(message) }
        }
    }

    var consumerThreads: [ThreadNumber] { [number] }

    var kernelWrites: Int? { Int(thread.runLoop.statistics.kernelWrites) }

    func send(_ count: Int, from start: Int, producer: Int) throws -> Int {
        if isBatched {
            for first in stride(from: start, to: start + count, by: 16) {
                for index in 0..<16 { batches[producer][index] = first + index }
                try port.send(contentsOf: batches[producer])
            }
        } else {
            for value in start..<start + count { try port.send(value) }
        }
        return sum(count, from: start)
    }
}

/// `Timer` of this package, on the clock that its date uses.
final class RunLoopOneShotTimer: OneShotTimer {
    private let thread: RunLoopThread
    let threads: [ThreadNumber]

    init(_ policy: RunLoop.WaitPolicy) throws {
        thread = try RunLoopThread(name: "alarm")
        threads = [try thread.prepare(policy)]
    }

    func start(_ series: TimerSeries) {
        thread.runLoop.perform { Self.scheduleNext(of: series) }
    }

    private static func scheduleNext(of series: TimerSeries) {
        let date = ContinuousClock.now + .nanoseconds(series.next())
        let timer = Timer(fireAt: date, interval: .zero, repeats: false) { _ in
            if series.fired(late: date.duration(to: .now).nanoseconds) { scheduleNext(of: series) }
        }
        RunLoop.current.add(timer, forMode: .default)
    }
}

/// Timers of this package, on the thread of a loop that does not run during the measurement.
final class RunLoopPendingTimers: PendingTimerArray, @unchecked Sendable {
    // Safe because only the loop's thread uses the mutable state.
    private let thread = WorkerThread()
    let pending: Int
    private let fires = CallCounter()
    var timers: [Timer] = []
    private var start = ContinuousClock.now

    init(pending: Int) { self.pending = pending }

    var number: ThreadNumber { thread.number }

    func onThread(_ job: @escaping @Sendable () -> Void) { thread.runAndWait(job) }

    func begin() { start = .now + .seconds(36_000) }

    func add(at index: Int) -> Timer { add(at: start + .milliseconds(index)) }

    func cancel(_ timer: Timer) { timer.invalidate() }

    func fireSome(_ count: Int) throws(Miscount) {
        let before = fires.count
        let now = ContinuousClock.now
        let cancelled = (0..<count).map { _ in
            add(at: now)
            return add(at: now)
        }
        for timer in cancelled { timer.invalidate() }
        try run(until: before + count)
    }

    func fireAll() throws(Miscount) {
        let before = fires.count
        let now = ContinuousClock.now
        for timer in timers { timer.fireDate = now }
        try run(until: before + pending)
    }

    /// Runs the loop until `expected` timers have fired, and then once more.
    private func run(until expected: Int) throws(Miscount) {
        let end = bench_now() + 10_000_000_000
        while fires.count < expected, bench_now() < end { RunLoop.current.run(until: .now) }
        RunLoop.current.run(until: .now)
        try Miscount.check(expected: expected, found: fires.count)
    }

    @discardableResult
    private func add(at date: ContinuousClock.Instant) -> Timer {
        let timer = Timer(fireAt: date, interval: .zero, repeats: false) { [fires] _ in fires.increment() }
        RunLoop.current.add(timer, forMode: .default)
        return timer
    }
}
