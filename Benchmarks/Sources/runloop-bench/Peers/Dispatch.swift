internal import CThreadControl
internal import Dispatch
internal import Synchronization

/// Keeps the threads of a serial queue on given processors as far as possible, and counts the exceptions.
///
/// A queue runs on any free thread of Dispatch's pool. Therefore blocks report their thread, and every reported thread is pinned. A
/// block that runs on another processor is counted, and pins its thread.
final class QueuePinning: Sendable {
    private let seen = Mutex<Set<ThreadNumber>>([])
    private let processors = Mutex<[Int32]>([])
    /// The same processors, with one bit for each; processors from number 64 on are not checked.
    private let allowed = Atomic<UInt64>(.max)
    private let blocks = Atomic<Int>(0)
    private let strays = Atomic<Int>(0)

    /// The threads seen so far.
    var threads: [ThreadNumber] { Array(seen.withLock { $0 }) }

    /// Pins the threads of the queue that are seen now or later.
    func pin(_ queue: DispatchQueue, to processors: [Int32]) {
        for _ in 0..<8 { queue.async { [self] in noteThread() } }
        queue.sync {}
        let mask = processors.reduce(UInt64(0)) { $1 < 64 ? $0 | 1 << UInt64($1) : .max }
        self.processors.withLock { $0 = processors }
        allowed.store(mask, ordering: .relaxed)
        for thread in threads { thread.pin(to: processors) }
    }

    /// Checks the processor of the calling block.
    @inline(__always)
    func checkProcessor() {
        blocks.add(1, ordering: .relaxed)
        let processor = bench_processor()
        if processor < 64, allowed.load(ordering: .relaxed) & 1 << UInt64(processor) == 0 {
            strays.add(1, ordering: .relaxed)
            // Dispatch started this thread after the pinning, and the thread inherited the processors of its creator.
            noteThread()
            ThreadNumber.current.pin(to: processors.withLock { $0 })
        }
    }

    private func noteThread() {
        seen.withLock { _ = $0.insert(.current) }
    }

    /// The share of checked blocks that ran on another processor.
    var strayPercentage: String {
        let blocks = blocks.load(ordering: .relaxed)
        let share = blocks == 0 ? 0 : Double(strays.load(ordering: .relaxed)) / Double(blocks)
        return NumberFormat.percent.text(share)
    }
}

/// The wake-up of a thread through an idle serial queue.
///
/// With two queues, Dispatch can run both blocks on one thread, without a wake-up. The near side is therefore a thread that waits
/// on a semaphore, and the answer is a signal. Half of the figure is `async`, and the other half is a semaphore, which is cheaper.
/// Read the ratio of this package's `perform` to this figure.
final class DispatchPingPong: PingPong {
    private let near = WorkerThread()
    private let queue = DispatchQueue(label: "far")
    private let answered = DispatchSemaphore(value: 0)
    private let pinning = QueuePinning()
    private let timer: RoundTripTimer

    init(timer: RoundTripTimer) { self.timer = timer }

    var nearThreads: [ThreadNumber] { [near.number] }
    var farThreads: [ThreadNumber] { pinning.threads }

    func place(_ placement: Placement, on machine: Machine) {
        pinning.pin(queue, to: placement.farProcessors(on: machine))
        near.number.pin(to: placement.nearProcessors(on: machine))
    }

    func start() {
        near.run { [queue, answered, pinning, timer] in
            timer.begin()
            repeat {
                queue.async {
                    pinning.checkProcessor()
                    answered.signal()
                }
                answered.wait()
            } while timer.answered()
        }
    }

    var remark: String? {
        "† Dispatch: a queue has no thread of its own to pin. Every thread of the pool that was seen was pinned; "
            + "\(pinning.strayPercentage) of the blocks still ran on another processor. The near side is a thread that "
            + "waits on a DispatchSemaphore: half async, half semaphore."
    }
}

/// `async` to a serial queue with a closure that captures one object.
final class DispatchChannel: MessageChannel {
    private let queue = DispatchQueue(label: "consumer")
    private let pinning = QueuePinning()
    private let payloads: [Payload]

    init(sink: Sink) { payloads = Payload.each(for: sink) }

    var consumerThreads: [ThreadNumber] { pinning.threads }

    func place(consumer processors: [Int32]) { pinning.pin(queue, to: processors) }

    func send(_ count: Int, from start: Int, producer: Int) -> Int {
        let payload = payloads[producer]
        // One check for each call, because a check for each message would cost as much as the message.
        queue.async { [pinning] in pinning.checkProcessor() }
        for _ in 0..<count { queue.async { payload.deliver() } }
        return count &* payload.value
    }

    var remark: String? {
        "† Dispatch: a queue has no thread of its own to pin. Every thread of the pool that was seen was pinned; "
            + "\(pinning.strayPercentage) of the blocks that checked still ran on another processor."
    }
}

/// A timer source of a serial queue, strict and without leeway, which is set again for each fire.
final class DispatchOneShotTimer: OneShotTimer {
    private let queue = DispatchQueue(label: "alarm")

    /// Empty, because Dispatch chooses its threads.
    var threads: [ThreadNumber] { [] }

    func start(_ series: TimerSeries) {
        let source = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        scheduleNext(of: series, source)
        source.activate()
    }

    private func scheduleNext(of series: TimerSeries, _ source: any DispatchSourceTimer) {
        let deadline = bench_now() + series.next()
        source.setEventHandler { [self] in
            if series.fired(late: bench_now() - deadline) {
                scheduleNext(of: series, source)
            } else {
                source.cancel()
            }
        }
        source.schedule(deadline: DispatchTime(uptimeNanoseconds: UInt64(deadline)), leeway: .nanoseconds(0))
    }
}
