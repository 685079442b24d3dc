internal import CThreadControl
internal import CYardsticks

/// Isolates the kernel: a thread asleep in an epoll that watches one timerfd.
final class RawAlarmClock: AlarmClock {
    private let thread = WorkerThread()

    var threads: [ThreadNumber] { [thread.number] }

    func start(_ series: AlarmSeries) {
        thread.run {
            var alarm = bench_alarm()
            guard bench_alarm_open(&alarm) else { fatalError("no timerfd or epoll for the yardstick") }
            var deadline: Int64
            repeat {
                deadline = bench_now() + series.next()
                bench_alarm_sleep(&alarm, deadline)
            } while series.fired(late: bench_now() - deadline)
            bench_alarm_close(&alarm)
        }
    }
}
