import CLibEvent
import Glibc
import RunLoops
import TestSupport
import Testing

/// The host of the article.
///
/// Safe: the kernel reads and fills local variables.
final class EpollHost {
    private let guest: RunLoop.Guest
    private let set = epoll_create1(0)
    private var isStopped = false

    init() throws {
        guest = try RunLoop.Guest()
        var event = unsafe epoll_event()
        unsafe event.events = EPOLLIN.rawValue
        unsafe event.data.fd = guest.descriptor
        unsafe epoll_ctl(set, EPOLL_CTL_ADD, guest.descriptor, &event)
    }

    deinit { close(set) }

    func run() {
        while !isStopped {
            let isReady = guest.prepare()
            var event = unsafe epoll_event()
            let count = unsafe epoll_wait(set, &event, 1, isReady ? 0 : -1)
            if unsafe isReady || count == 1 && event.data.fd == guest.descriptor { guest.serve() }
        }
    }

    func stop() { isStopped = true }
}

/// The code of the article "Inside another main loop".
@Suite struct GuestLoopsSnippets {
    @Test func `the host of the article serves a timer, and can be stopped by it`() throws {
        try onLoopThread { loop in
            let host = try EpollHost()
            var fires = 0
            loop.add(
                Timer(timeInterval: .milliseconds(1), repeats: true) { timer in
                    fires += 1
                    if fires < 3 { return }
                    timer.invalidate()
                    host.stop()
                }, forMode: .default)
            host.run()
            #expect(fires == 3)
        }
    }
}
