import Glibc
import RunLoops

/// The processor time of a loop's passes, without the time that other processes take.
final class PassTimes {
    private(set) var count = 0
    private(set) var longest = Duration.zero
    private var start: Duration?

    /// Measures the passes in a mode, on the thread of the loop.
    func observe(_ loop: RunLoop, mode: RunLoop.Mode) {
        let observer = RunLoop.Observer(activities: [.beforeTimers, .beforeWaiting, .exit]) {
            [self] _, activity in
            let now = PassTimes.processorTime
            if let start {
                count += 1
                longest = max(longest, now - start)
            }
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
