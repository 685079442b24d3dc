internal import CYardsticks

/// Isolates the kernel: two threads, each asleep in an epoll that watches one eventfd.
///
/// Read its p50 first: no loop that can also watch descriptors wakes faster while parked.
final class RawPingPong: PingPong {
    private let near = WorkerThread()
    private let far = WorkerThread()
    private let nearBed = Bed()
    private let farBed = Bed()
    private let rally: Rally

    init(rally: Rally) {
        self.rally = rally
        far.run { [nearBed, farBed] in
            while true {
                farBed.sleep()
                nearBed.wake()
            }
        }
    }

    var nearThreads: [ThreadNumber] { [near.number] }
    var farThreads: [ThreadNumber] { [far.number] }

    func start() {
        near.run { [nearBed, farBed, rally] in
            rally.begin()
            repeat {
                farBed.wake()
                nearBed.sleep()
            } while rally.returned()
        }
    }
}
