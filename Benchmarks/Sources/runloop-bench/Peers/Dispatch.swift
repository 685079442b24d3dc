internal import CThreadControl
internal import Dispatch
internal import Synchronization

/// Keeps the threads of a serial queue on given processors as far as possible, and counts the exceptions.
///
/// A queue runs on any free thread of Dispatch's pool. So blocks report their thread, every thread that was seen is pinned, and
/// a block that finds itself on another processor is counted and pins its thread.
final class QueuePinning: Sendable {
    private let threads = Mutex<Set<ThreadNumber>>([])
    private let processors = Mutex<[Int32]>([])
    /// The same processors, one bit each; processors from the 64th on are not checked.
    private let allowed = Atomic<UInt64>(.max)
    private let blocks = Atomic<Int>(0)
    private let strays = Atomic<Int>(0)

    /// The threads seen so far.
    var numbers: [ThreadNumber] { Array(threads.withLock { $0 }) }

    /// Notes which processors blocks should run on from now on.
    func allow(_ processors: [Int32]) {
        let mask = processors.reduce(UInt64(0)) { $1 < 64 ? $0 | 1 << UInt64($1) : .max }
        self.processors.withLock { $0 = processors }
        allowed.store(mask, ordering: .relaxed)
    }

    /// Checks the processor of the calling block.
    @inline(__always)
    func check() {
        blocks.add(1, ordering: .relaxed)
        let processor = bench_processor()
        if processor < 64, allowed.load(ordering: .relaxed) & 1 << UInt64(processor) == 0 {
            strays.add(1, ordering: .relaxed)
            // Dispatch has started this thread since, and it has inherited the processors of the thread that started it.
            noteThread()
            ThreadNumber.current.pin(to: processors.withLock { $0 })
        }
    }

    /// Notes the thread that a block runs on.
    func noteThread() {
        threads.withLock { _ = $0.insert(.current) }
    }

    /// The share of blocks that ran where they should not.
    var strayShare: Double {
        let blocks = blocks.load(ordering: .relaxed)
        return blocks == 0 ? 0 : Double(strays.load(ordering: .relaxed)) / Double(blocks)
    }
}

/// Isolates waking a thread through an idle serial queue.
///
/// Between two queues, Dispatch may run both blocks on one thread, and wake no other. So the near side is a thread that waits
/// on a semaphore, and the answer is a signal. Half of the figure is `async`, the other half a semaphore, which is the cheaper
/// of the two. Read the ratio of our `perform` to it.
final class DispatchPingPong: PingPong {
    private let near = WorkerThread()
    private let queue = DispatchQueue(label: "far")
    private let answered = DispatchSemaphore(value: 0)
    private let pinning = QueuePinning()
    private let timer: RoundTripTimer

    init(timer: RoundTripTimer) { self.timer = timer }

    var nearThreads: [ThreadNumber] { [near.number] }
    var farThreads: [ThreadNumber] { pinning.numbers }

    func place(_ placement: Placement, on machine: Machine) {
        for _ in 0..<8 { queue.async { [pinning] in pinning.noteThread() } }
        queue.sync {}
        pinning.allow(placement.farProcessors(on: machine))
        placement.pin(near: nearThreads, far: farThreads, on: machine)
    }

    func start() {
        near.run { [queue, answered, pinning, timer] in
            timer.begin()
            repeat {
                queue.async {
                    pinning.check()
                    answered.signal()
                }
                answered.wait()
            } while timer.answered()
        }
    }

    var remark: String? {
        "† Dispatch: a queue has no thread to pin. Every pool thread that was seen was pinned; "
            + "\(NumberFormat.percent.text(pinning.strayShare)) of the blocks still ran on another processor. "
            + "Its near side is a thread that waits on a DispatchSemaphore: half async, half semaphore."
    }
}

/// Isolates `async` to a serial queue with a closure that captures one object.
final class DispatchChannel: MessageChannel {
    private let queue = DispatchQueue(label: "consumer")
    private let pinning = QueuePinning()
    private let payloads: [Payload]

    init(sink: Sink) { payloads = Payload.each(for: sink) }

    var consumerThreads: [ThreadNumber] { pinning.numbers }

    func place(consumer processors: [Int32]) {
        for _ in 0..<8 { queue.async { [pinning] in pinning.noteThread() } }
        queue.sync {}
        pinning.allow(processors)
        for thread in consumerThreads { thread.pin(to: processors) }
    }

    func send(_ count: Int, from start: Int, producer: Int) -> Int {
        let payload = payloads[producer]
        // One look per call at where the queue runs; one per message would cost what it looks at.
        queue.async { [pinning] in pinning.check() }
        for _ in 0..<count { queue.async { payload.deliver() } }
        return count &* payload.value
    }

    var remark: String? {
        "† Dispatch: a queue has no thread to pin. Every pool thread that was seen was pinned; "
            + "\(NumberFormat.percent.text(pinning.strayShare)) of the blocks that looked still ran "
            + "on another processor."
    }
}

/// Isolates a timer source of a serial queue that is set again for each fire, strictly and without leeway.
final class DispatchOneShotTimer: OneShotTimer {
    private let queue = DispatchQueue(label: "alarm")

    /// None: Dispatch chooses its threads.
    var threads: [ThreadNumber] { [] }

    func start(_ series: TimerSeries) {
        let source = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        ask(source, series)
        source.activate()
    }

    private func ask(_ source: any DispatchSourceTimer, _ series: TimerSeries) {
        let deadline = bench_now() + series.next()
        source.setEventHandler { [self] in
            if series.fired(late: bench_now() - deadline) { ask(source, series) } else { source.cancel() }
        }
        source.schedule(deadline: DispatchTime(uptimeNanoseconds: UInt64(deadline)), leeway: .nanoseconds(0))
    }
}
