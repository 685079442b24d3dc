import Glibc
import RunLoops

/// The processor time of a loop's passes, without the time that other processes take.
final class PassTimes {
    private var times: [Duration] = []
    private var start: Duration?

    var count: Int { times.count }

    /// The time that 99 of 100 passes do not exceed.
    ///
    /// A pass can also contain interrupts, which the kernel counts as time of the thread that they interrupt.
    var longestOfMost: Duration { times.sorted()[times.count * 99 / 100] }

    /// Measures the passes in a mode, on the thread of the loop.
    func observe(_ loop: RunLoop, mode: RunLoop.Mode) {
        let observer = RunLoop.Observer(activities: [.beforeTimers, .beforeWaiting, .exit]) {
            [self] _, activity in
            let now = PassTimes.processorTime
            if let start { times.append(now - start) }
            start = activity == .beforeTimers ? now : nil
        }
        loop.add(observer, forMode: mode)
    }

    private static var processorTime: Duration {
        var time = timespec()
        // Safe: the kernel fills a local variable.
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
