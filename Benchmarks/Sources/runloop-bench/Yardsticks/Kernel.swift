internal import CThreadControl
internal import CYardsticks

/// A place for one thread to sleep: an eventfd that an epoll watches.
final class Parker: Sendable {
    private let parker: bench_parker

    init() {
        var parker = bench_parker()
        guard bench_parker_open(&parker) else {
            fatalError("Parker.init: the kernel refused an eventfd or an epoll")
        }
        self.parker = parker
    }

    deinit {
        var parker = parker
        bench_parker_close(&parker)
    }

    /// Wakes up the thread from its current sleep, or from its next sleep if the thread is awake.
    func unpark() {
        withUnsafePointer(to: parker) { bench_parker_unpark($0) }
    }

    /// Sleeps until the parker is unparked, or returns at once if it was unparked since the last sleep.
    func park() {
        withUnsafePointer(to: parker) { bench_parker_park($0) }
    }
}

/// The lower bound of the kernel: two threads, each asleep in an epoll that watches one eventfd.
///
/// Read the p50 first: no parked loop that can also watch descriptors wakes up faster.
final class RawPingPong: PingPong {
    private let near = WorkerThread()
    private let far = WorkerThread()
    private let nearParker = Parker()
    private let farParker = Parker()
    private let timer: RoundTripTimer

    init(timer: RoundTripTimer) {
        self.timer = timer
        far.run { [nearParker, farParker] in
            while true {
                farParker.park()
                nearParker.unpark()
            }
        }
    }

    var nearThreads: [ThreadNumber] { [near.number] }
    var farThreads: [ThreadNumber] { [far.number] }

    func start() {
        near.run { [nearParker, farParker, timer] in
            timer.begin()
            repeat {
                farParker.unpark()
                nearParker.park()
            } while timer.answered()
        }
    }
}

/// The lower bound of the kernel: a thread asleep in an epoll that watches one timerfd.
final class RawOneShotTimer: OneShotTimer {
    private let thread = WorkerThread()

    var threads: [ThreadNumber] { [thread.number] }

    func start(_ series: TimerSeries) {
        thread.run {
            var alarm = bench_timer()
            guard bench_timer_open(&alarm) else {
                fatalError("RawOneShotTimer.start: the kernel refused a timerfd or an epoll")
            }
            var deadline: Int64
            repeat {
                deadline = bench_now() + series.next()
                bench_timer_sleep(&alarm, deadline)
            } while series.fired(late: bench_now() - deadline)
            bench_timer_close(&alarm)
        }
    }
}

/// The lower bound of the kernel: two processes with a connection that keeps packets apart.
///
/// Read the round trip of the pair without an epoll first: nothing that sends packets answers faster. The pair with an epoll is the
/// lower bound for ends that must also be able to wait for other descriptors.
final class BarePacketPair: PacketPair {
    private let near = WorkerThread()
    private let far: ChildProcess
    private let end: CInt
    private let epoll: CInt
    private let timer: RoundTripTimer

    /// The kernel is out of descriptors.
    struct Failure: Error {}

    /// Starts the other process.
    init(watches: Bool, timer: RoundTripTimer) throws {
        self.timer = timer
        var ends: [CInt] = [0, 0]
        if !bench_packets_open(&ends) { throw Failure() }
        end = ends[0]
        far = try ChildProcess(["serve-packets"] + (watches ? ["--watches"] : []), end: ends[1])
        bench_packets_close(ends[1])
        epoll = watches ? bench_watch(end) : -1
    }

    deinit {
        bench_packets_close(end)
        far.wait()
    }

    var nearThreads: [ThreadNumber] { [near.number] }
    var farThreads: [ThreadNumber] { [far.number] }

    func start() {
        near.run { [end, epoll, timer] in
            timer.begin()
            repeat {
                bench_packets_send(end, bench_packet_question, 64)
                if bench_packets_receive(end, epoll) < 0 { return timer.fail("the other process has ended") }
            } while timer.answered()
        }
    }

    func stream(_ count: Int) throws -> Int {
        for _ in 0..<count { bench_packets_send(end, bench_packet_plain, 64) }
        bench_packets_send(end, bench_packet_question, 64)
        return Int(bench_packets_receive(end, epoll))
    }
}
