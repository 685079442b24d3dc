internal import CThreadControl
internal import CoreFoundation
internal import Foundation

/// A thread that runs a Foundation run loop.
///
/// On Linux, `perform` does not wake up a sleeping loop. The best public function for this is Core Foundation's `CFRunLoopWakeUp`,
/// which clients of Foundation can import. `RunLoop` does not expose its Core Foundation object, so the loop's own thread gets it
/// from `CFRunLoopGetCurrent`.
final class FoundationLoop: @unchecked Sendable {
    // Safe because both properties are set only once, before `init` returns. Other threads make two calls on them, which are
    // thread-safe according to their documentation or their source.
    private var loop: RunLoop?
    private var core: CFRunLoop?
    private let thread = WorkerThread()

    init() {
        thread.runAndWait { [self] in
            loop = RunLoop.current
            core = CFRunLoopGetCurrent()
        }
        thread.run {
            Self.addIdleTimer()
            while RunLoop.current.run(mode: .default, before: .distantFuture) {}
        }
    }

    var number: ThreadNumber { thread.number }

    /// Runs the block on the loop's thread.
    func perform(_ block: @escaping @Sendable () -> Void) {
        loop?.perform(block)
        CFRunLoopWakeUp(core)
    }

    /// Adds a timer that never fires, because a loop without a timer or port returns at once.
    static func addIdleTimer() {
        RunLoop.current.add(
            Timer(fire: .distantFuture, interval: 1e9, repeats: true) { _ in }, forMode: .default)
    }

    /// Makes the loop of the calling thread, and runs one pass with a timer.
    static func make() {
        RunLoop.current.add(
            Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }, forMode: .default)
        _ = RunLoop.current.run(mode: .default, before: Date())
    }
}

/// The wake-up of a sleeping Foundation run loop with a block: `perform`, then `CFRunLoopWakeUp`.
///
/// Read the ratio of this package's `perform` to this figure.
final class FoundationPingPong: PingPong {
    private let near = FoundationLoop()
    private let far = FoundationLoop()
    private let timer: RoundTripTimer

    init(timer: RoundTripTimer) { self.timer = timer }

    var nearThreads: [ThreadNumber] { [near.number] }
    var farThreads: [ThreadNumber] { [far.number] }

    func start() {
        near.perform { [near, far, timer] in
            timer.begin()
            Self.ping(near, far, timer)
        }
    }

    private static func ping(_ near: FoundationLoop, _ far: FoundationLoop, _ timer: RoundTripTimer) {
        far.perform {
            near.perform {
                if timer.answered() { ping(near, far, timer) }
            }
        }
    }
}

/// Foundation's `perform` with a closure that captures one object.
///
/// A `CFRunLoopWakeUp` follows each call, because a sender cannot know whether the loop sleeps.
final class FoundationChannel: MessageChannel {
    private let loop = FoundationLoop()
    private let payloads: [Payload]

    init(sink: Sink) { payloads = Payload.each(for: sink) }

    var consumerThreads: [ThreadNumber] { [loop.number] }

    func send(_ count: Int, from start: Int, producer: Int) -> Int {
        let payload = payloads[producer]
        for _ in 0..<count { loop.perform { payload.deliver() } }
        return count &* payload.value
    }
}

/// Foundation's `Timer`, whose dates are on the wall clock.
final class FoundationOneShotTimer: OneShotTimer {
    private let loop = FoundationLoop()

    var threads: [ThreadNumber] { [loop.number] }

    func start(_ series: TimerSeries) {
        loop.perform { Self.scheduleNext(of: series) }
    }

    private static func scheduleNext(of series: TimerSeries) {
        let time = series.next()
        let deadline = bench_now() + time
        let date = Date(timeIntervalSinceNow: Double(time) / 1e9)
        let timer = Timer(fire: date, interval: 0, repeats: false) { _ in
            if series.fired(late: bench_now() - deadline) { scheduleNext(of: series) }
        }
        RunLoop.current.add(timer, forMode: .default)
    }
}

/// Foundation's timers, on the thread of a loop that does not run during the measurement.
final class FoundationPendingTimers: PendingTimerArray, @unchecked Sendable {
    // Safe because only the loop's thread uses the mutable state.
    private let thread = WorkerThread()
    let pending: Int
    private let fires = CallCounter()
    var timers: [Timer] = []
    private var start = Date()

    init(pending: Int) { self.pending = pending }

    var number: ThreadNumber { thread.number }

    func onThread(_ job: @escaping @Sendable () -> Void) { thread.runAndWait(job) }

    func begin() { start = Date() + 36_000 }

    func add(at index: Int) -> Timer { add(at: start + Double(index) / 1000) }

    func cancel(_ timer: Timer) { timer.invalidate() }

    func fireSome(_ count: Int) throws(Miscount) {
        let expected = fires.count + count
        let now = Date()
        let cancelled = (0..<count).map { _ in
            add(at: now)
            return add(at: now)
        }
        for timer in cancelled { timer.invalidate() }
        let end = bench_now() + 10_000_000_000
        while fires.count < expected, bench_now() < end {
            _ = RunLoop.current.run(mode: .default, before: Date() + 0.001)
        }
        try Miscount.check(expected: expected, found: fires.count)
    }

    @discardableResult
    private func add(at date: Date) -> Timer {
        let timer = Timer(fire: date, interval: 0, repeats: false) { [fires] _ in fires.increment() }
        RunLoop.current.add(timer, forMode: .default)
        return timer
    }
}
