import CLibEvent
import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// A loop that an epoll loop serves as its guest.
@Suite struct GuestTests {
    /// A main loop on epoll, as a program without this package would have it.
    private final class Host {
        let guest: RunLoop.Guest
        private let set: CInt
        /// The number of times that `epoll_wait` has returned.
        private(set) var wakeUps = 0
        private(set) var services = 0

        init(_ guest: RunLoop.Guest) throws {
            self.guest = guest
            set = epoll_create1(CInt(EPOLL_CLOEXEC))
            var event = unsafe epoll_event()
            unsafe event.events = EPOLLIN.rawValue
            let result = unsafe epoll_ctl(set, EPOLL_CTL_ADD, guest.descriptor, &event)
            try #require(result == 0)
        }

        deinit { close(set) }

        /// Waits once, and serves the guest if it is ready.
        ///
        /// - Parameter limit: The longest wait in milliseconds, or -1 for no limit.
        /// - Returns: True if the guest was served.
        @discardableResult
        func turn(_ limit: CInt = 10_000) -> Bool {
            let isReady = guest.prepare()
            var event = unsafe epoll_event()
            let count = unsafe epoll_wait(set, &event, 1, isReady ? 0 : limit)
            wakeUps += 1
            if !isReady && count <= 0 { return false }
            services += 1
            guest.serve()
            return true
        }

        /// Waits and serves until a condition holds.
        func run(until what: String, _ holds: () -> Bool) {
            let end = ContinuousClock.Instant.hang
            while !holds() {
                turn()
                if ContinuousClock.now > end {
                    Issue.record("it does not come to be: \(what)")
                    return
                }
            }
        }

        /// Serves the guest without waiting until it has no work.
        func settle() { while turn(0) {} }
    }

    private func onHost(_ body: @escaping @Sendable (Host, RunLoop) throws -> Void) throws {
        try onLoopThread { loop in try body(Host(RunLoop.Guest()), loop) }
    }

    @Test func `a guest without inputs is not ready, and wakes nobody`() throws {
        try onHost { host, loop in
            #expect(!host.guest.prepare())
            #expect(!host.turn(50))
            #expect(host.wakeUps == 1)
        }
    }

    // Guarantees: At rest, the host is not woken.
    @Test func `a guest with a distant timer wakes its host never`() throws {
        try onHost { host, loop in
            loop.add(Timer(timeInterval: .seconds(600), repeats: false) { _ in }, forMode: .default)
            loop.add(Port<Int>(), forMode: .default) { _ in }
            host.settle()
            let before = host.wakeUps
            #expect(!host.turn(200))
            #expect(host.wakeUps == before + 1)
        }
    }

    @Test func `a timer is served when it is due, and its host has no time-out`() throws {
        try onHost { host, loop in
            var fired: [ContinuousClock.Instant] = []
            let start = ContinuousClock.now
            loop.add(
                Timer(timeInterval: .milliseconds(20), repeats: true) { timer in
                    fired.append(.now)
                    if fired.count == 3 { timer.invalidate() }
                }, forMode: .default)
            host.run(until: "the timer has fired") { fired.count == 3 }
            for (index, instant) in fired.enumerated() {
                #expect(instant - start >= .milliseconds(20 * (index + 1)))
            }
            #expect(host.services <= 4)
        }
    }

    @Test func `a timer that the host's own code adds is prepared for`() throws {
        try onHost { host, loop in
            loop.add(Timer(timeInterval: .seconds(600), repeats: false) { _ in }, forMode: .default)
            host.settle()
            var fired = false
            loop.add(
                Timer(timeInterval: .milliseconds(5), repeats: false) { _ in fired = true }, forMode: .default
            )
            host.run(until: "the new timer has fired") { fired }
        }
    }

    @Test func `blocks, messages and signals of other threads wake the host`() throws {
        try onHost { host, loop in
            let port = Port<Int>()
            var messages: [Int] = []
            loop.add(port, forMode: .default) { messages.append($0) }
            let signals = Shared()
            let manual = ManualSource { _ = signals.increment() }
            loop.add(manual, forMode: .default)
            host.settle()
            let thread = try RunLoopThread(name: "sender")
            thread.runLoop.perform {
                do { try port.send(7) } catch { Issue.record("\(error)") }
            }
            host.run(until: "the message is there") { messages == [7] }
            thread.runLoop.perform { manual.signal() }
            host.run(until: "the signal is there") { signals.count == 1 }
            let performed = Shared()
            thread.runLoop.perform {
                do { try loop.performAndWait(before: .hang) { _ = performed.increment() } } catch {
                    Issue.record("\(error)")
                }
            }
            host.run(until: "the block has run") { performed.count == 1 }
            #expect(messages == [7] && signals.count == 1)
            thread.stop()
        }
    }

    @Test func `a descriptor is served once for each readiness, and its host does not spin`() throws {
        try onHost { host, loop in
            let pipe = ReadablePipe()
            var reads = 0
            let source = DescriptorSource(pipe.readingEnd, interest: .read) { _, _ in
                reads += 1
                pipe.drain()
            }
            try loop.add(source, forMode: .default)
            host.settle()
            for round in 1...3 {
                pipe.fill()
                host.run(until: "the pipe is read") { reads == round }
                host.settle()
                #expect(reads == round)
            }
            let before = host.wakeUps
            #expect(!host.turn(50))
            #expect(host.wakeUps == before + 1)
            source.invalidate()
        }
    }

    // Guarantees: Work that a callback of the host gives to the loop is seen by the next ``RunLoop/Guest/prepare()``.
    @Test func `work of the host's own code is seen before the next wait`() throws {
        try onHost { host, loop in
            loop.add(Port<Int>(), forMode: .default) { _ in }
            host.settle()
            let done = Shared()
            loop.perform { _ = done.increment() }
            #expect(host.guest.prepare())
            host.settle()
            #expect(done.count == 1)
            let source = ManualSource { _ = done.increment() }
            loop.add(source, forMode: .default)
            source.signal()
            #expect(host.guest.prepare())
            host.settle()
            #expect(done.count == 2)
        }
    }

    // Guarantees: Inputs that are not in the guest's mode wait.
    @Test func `inputs of other modes wait`() throws {
        try onHost { host, loop in
            let other = RunLoop.Mode("other")
            var served: [String] = []
            let port = Port<Int>()
            loop.add(port, forMode: other) { served.append("other \($0)") }
            loop.add(Port<Int>(), forMode: .default) { _ in }
            try port.send(1)
            host.settle()
            #expect(served == [])
            #expect(!host.turn(20))
            let second = try Host(RunLoop.Guest(mode: other))
            second.settle()
            #expect(served == ["other 1"])
        }
    }

    // Guarantees: Observers of ``RunLoop/Activity/beforeWaiting`` are called before the host waits.
    @Test func `observers see each service as a run, and the wait before the host waits`() throws {
        try onHost { host, loop in
            loop.add(Port<Int>(), forMode: .default) { _ in }
            var told: [RunLoop.Activity] = []
            loop.add(RunLoop.Observer(activities: .all) { told.append($1) }, forMode: .default)
            let source = ManualSource {}
            loop.add(source, forMode: .default)
            source.signal()
            host.settle()
            let busy: [RunLoop.Activity] = [.entry, .beforeTimers, .beforeSources, .exit]
            let idle: [RunLoop.Activity] = [
                .entry, .beforeTimers, .beforeSources, .beforeWaiting, .afterWaiting, .exit,
            ]
            #expect(told == busy + idle)
            told = []
            #expect(!host.guest.prepare())
            #expect(told == [])
        }
    }

    @Test func `a handler may run the loop itself`() throws {
        try onHost { host, loop in
            let port = Port<Int>()
            var log: [String] = []
            loop.add(port, forMode: .default) { message in
                log.append("\(message) begins")
                if message == 1 {
                    do { try port.send(2) } catch { Issue.record("\(error)") }
                    loop.run(in: .default, until: .hang, returnAfterSourceHandled: true)
                }
                log.append("\(message) ends")
            }
            try port.send(1)
            host.run(until: "both are served") { log.count == 4 }
            #expect(log == ["1 begins", "2 begins", "2 ends", "1 ends"])
        }
    }

    @Test(arguments: [true, false]) func `a handler does not serve its loop as a guest`(prepares: Bool) async
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [prepares] in
            try onLoopThread { loop in
                let guest = try RunLoop.Guest()
                let timer = Timer(timeInterval: .zero, repeats: false) { _ in
                    if prepares { _ = guest.prepare() } else { guest.serve() }
                }
                loop.add(timer, forMode: .default)
                guest.serve()
            }
        }
        expect(
            result, says: "RunLoop.Guest.\(prepares ? "prepare" : "serve"): called inside a handler of the ",
            "run the loop itself there, or return from the handler first")
    }

    @Test func `a stop and a wake-up do not make the host spin`() throws {
        try onHost { host, loop in
            loop.add(Port<Int>(), forMode: .default) { _ in }
            host.settle()
            loop.stop()
            loop.wakeUp()
            for _ in 0..<4 { host.turn(0) }
            #expect(!host.turn(50))
        }
    }

    // Guarantees: A timer of a guest is never early, and all timers and blocks are served.
    @Test
    func `10,000 timers and 10,000 blocks of other threads are all served, in order, and no timer is early`()
        throws
    {
        let count = 10_000
        let (fired, latenesses) = try onLoopThread { loop in
            let host = try Host(RunLoop.Guest())
            var fired: [Int] = []
            var latenesses: [Duration] = []
            let start = ContinuousClock.now + .milliseconds(50)
            for index in 0..<count {
                let due = start + .microseconds(20 * index)
                let timer = Timer(fireAt: due, interval: .zero, repeats: false) { _ in
                    latenesses.append(.now - due)
                    fired.append(index)
                }
                loop.add(timer, forMode: .default)
            }
            let blocks = (0..<2).map { _ in Log<Int>() }
            let senders = try (0..<2).map { try RunLoopThread(name: "sender \($0)") }
            for (sender, blocks) in zip(senders, blocks) {
                sender.runLoop.perform {
                    for number in 0..<count / 2 { loop.perform { blocks.add(number) } }
                }
            }
            host.run(until: "all are served") {
                fired.count == count && blocks.allSatisfy { $0.entries.count == count / 2 }
            }
            for sender in senders { sender.stop() }
            for blocks in blocks { #expect(blocks.entries == Array(0..<count / 2)) }
            return (fired, latenesses)
        }
        #expect(fired == Array(0..<count))
        #expect(latenesses.allSatisfy { $0 >= .zero })
    }

    @Test func `an actor on the loop is served by the host`() async throws {
        actor Counter {
            nonisolated let loop: RunLoop
            var value = 0
            init(_ loop: RunLoop) { self.loop = loop }
            nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
            func increment() { value += 1 }
        }
        let done = Shared()
        let (loops, handOver) = AsyncStream<RunLoop>.makeStream()
        try RunLoopThread.detach(name: "host") { loop in
            do {
                let host = try Host(RunLoop.Guest())
                loop.add(Port<Int>(), forMode: .default) { _ in }
                handOver.yield(loop)
                host.run(until: "the task is done") { done.count == 1 }
            } catch { Issue.record("\(error)") }
            handOver.finish()
        }
        var hosted = loops.makeAsyncIterator()
        let loop = try #require(await hosted.next())
        let counter = Counter(loop)
        for _ in 0..<100 { await counter.increment() }
        #expect(await counter.value == 100)
        loop.perform { _ = done.increment() }
        #expect(await hosted.next() == nil)
    }

    @Test func `a guest serves no common modes`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { loop in _ = try RunLoop.Guest(mode: .common) }
        }
        expect(
            result, says: "RunLoop.Guest: .common is a set of modes", "serve .default, or a mode of the set")
    }

    @Test func `a guest is served on its own thread`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let guest = try onLoopThread { _ in Handed(try RunLoop.Guest()) }
            try onLoopThread { _ in guest.value.serve() }
        }
        expect(
            result, says: "RunLoop.Guest.serve: called outside the loop's own thread",
            "on the thread that made the guest")
    }

    /// Passes a guest to a thread that must not serve it.
    ///
    /// `@unchecked`: the process must end before the thread accesses the state of the guest.
    private struct Handed: @unchecked Sendable {
        let value: RunLoop.Guest
        init(_ value: RunLoop.Guest) { self.value = value }
    }
}
