import Dispatch
import Glibc
import RunLoops
import TestSupport
import Testing

/// Signals that reach a loop.
///
/// Each test has a process of its own, because signals belong to the process.
@Suite struct SignalSourceTests {
    @Test func `a signal calls the handler on the loop's thread, and says who has sent it`() async throws {
        try await #require(processExitsWith: .success) {
            try onLoopThread { loop in
                var arrivals: [SignalSource.Arrival] = []
                let source = try SignalSource(SIGTERM) { source, arrival in
                    #expect(loop.isCurrent && source.signal == SIGTERM)
                    arrivals.append(arrival)
                }
                try loop.add(source, forMode: .default)
                Signals.send(SIGTERM)
                #expect(
                    loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
                // Another process is another sender.
                let child = Child(shell: "kill -TERM $PPID")
                #expect(
                    loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
                child.wait()
                #expect(arrivals.map(\.signal) == [SIGTERM, SIGTERM])
                #expect(arrivals.map(\.count) == [1, 1])
                #expect(arrivals.map(\.sender?.processID) == [getpid(), child.processID])
                #expect(arrivals.map(\.sender?.userID) == [getuid(), getuid()])
            }
        }
    }

    @Test func `a signal that comes from the kernel has no sender`() async throws {
        try await #require(processExitsWith: .success) {
            try onLoopThread { loop in
                var senders: [SignalSource.Arrival.Sender?] = []
                let source = try SignalSource(SIGALRM) { _, arrival in senders.append(arrival.sender) }
                try loop.add(source, forMode: .default)
                alarm(1)
                #expect(
                    loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
                #expect(senders == [nil])
            }
        }
    }

    @Test func `a run that says that it has served a signal has`() async throws {
        try await #require(processExitsWith: .success) {
            try onLoopThread { loop in
                var count = 0
                let source = try SignalSource(SIGTERM) { _, _ in count += 1 }
                try loop.add(source, forMode: .default)
                // Another thread can take each signal after this thread has found it pending.
                for round in 1...5_000 {
                    Signals.send(SIGTERM)
                    try serveOne(loop)
                    try #require(count == round)
                }
            }
        }
    }

    // Guarantees: From its creation to its end, a source loses no signal that the kernel gives to the process, and takes no signal
    // that is not its own.
    @Test func `threads that run already, whatever they block, do not take a signal away`() async throws {
        try await #require(processExitsWith: .success) {
            let leave = Gate()
            let others = try (0..<4).map { number in
                try BareThread {
                    Signals.block(SIGUSR1, number.isMultiple(of: 2))
                    #expect(leave.wait())
                }
            }
            try onLoopThread { loop in
                var count = 0
                let source = try SignalSource(SIGUSR1) { _, arrival in count += arrival.count }
                try loop.add(source, forMode: .default)
                for wanted in 1...100 {
                    Signals.send(SIGUSR1)
                    while count < wanted { try serveOne(loop) }
                }
                #expect(count == 100)
            }
            leave.open()
            for other in others { other.join() }
        }
    }

    @Test func `a signal that every thread blocks is served, and no mask is changed`() async throws {
        try await #require(processExitsWith: .success) {
            // The child has one thread, and no earlier loop.
            let ending = Child {
                Signals.block(SIGTERM)
                var arrivals: [SignalSource.Arrival] = []
                do {
                    let source = try SignalSource(SIGTERM) { _, arrival in
                        arrivals.append(arrival)
                        RunLoop.current.stop()
                    }
                    try RunLoop.current.add(source, forMode: .default)
                } catch { return 1 }
                Signals.send(SIGTERM)
                guard RunLoop.current.run(in: .default, until: .hang) == .stopped else { return 2 }
                guard arrivals.count == 1, arrivals[0].count == 1 else { return 3 }
                guard arrivals[0].sender?.processID == getpid() else { return 4 }
                return Signals.isBlocked(SIGTERM) ? 0 : 5
            }.wait()
            #expect(ending == .exited(0))
        }
    }

    @Test func `a signal sent to the loop's thread alone is served, blocked there or not`() async throws {
        try await #require(processExitsWith: .success) {
            try onLoopThread { loop in
                var count = 0
                let source = try SignalSource(SIGUSR2) { _, arrival in count += arrival.count }
                try loop.add(source, forMode: .default)
                for isBlocked in [false, true] {
                    Signals.block(SIGUSR2, isBlocked)
                    Signals.sendToThread(SIGUSR2)
                    #expect(
                        loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource
                    )
                }
                #expect(count == 2)
            }
        }
    }

    // Guarantees: From its creation to its end, a source loses no signal that the kernel gives to the process, and takes no signal
    // that is not its own.
    @Test func `of ten thousand real-time signals none is lost while the loop serves them`() async throws {
        try await #require(processExitsWith: .success) {
            let signal = SIGUSR1 + 30
            try onLoopThread { loop in
                var count = 0
                let source = try SignalSource(signal) { _, arrival in
                    count += arrival.count
                    if count == 10_000 { loop.stop() }
                }
                try loop.add(source, forMode: .default)
                let senders = try Threads(4) { _ in for _ in 0..<2_500 { Signals.queue(signal) } }
                #expect(loop.run(in: .default, until: .hang) == .stopped)
                try senders.join()
                loop.run(until: .now)
                #expect(count == 10_000)
            }
        }
    }

    @Test func `signals that come before the loop serves them are counted, also without room for each`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            let signal = SIGUSR1 + 30
            try onLoopThread { loop in
                var counts: [Int] = []
                let source = try SignalSource(signal) { _, arrival in counts.append(arrival.count) }
                // Each thread handles its own signal before it sends the next one.
                let senders = try Threads(4) { _ in
                    Signals.block(signal, false)
                    for _ in 0..<2_500 { Signals.sendToThread(signal) }
                }
                try senders.join()
                try loop.add(source, forMode: .default)
                while counts.reduce(0, +) < 10_000 { try serveOne(loop) }
                #expect(counts.reduce(0, +) == 10_000)
                // A pipe holds fewer arrivals than this. The others are added to one of them.
                #expect(counts.count < 10_000)
                while loop.run(in: .default, until: .now, returnAfterSourceHandled: true) == .handledSource {}
                #expect(counts.reduce(0, +) == 10_000)
            }
        }
    }

    // Guarantees: From its creation to its end, a source loses no signal that the kernel gives to the process, and takes no signal
    // that is not its own.
    @Test func `several signals have a source each, and a Dispatch source goes on beside them`() async throws
    {
        try await #require(processExitsWith: .success) {
            let (registered, dispatched) = (Gate(), Gate())
            let beside = DispatchSource.makeSignalSource(signal: SIGUSR2, queue: .global())
            beside.setRegistrationHandler { registered.open() }
            beside.setEventHandler { dispatched.open() }
            beside.activate()
            // Dispatch sets its signal handler some time after the call.
            #expect(registered.wait())
            try onLoopThread { loop in
                var served: Set<CInt> = []
                for signal in [SIGHUP, SIGUSR1] {
                    try loop.add(
                        SignalSource(signal) { _, arrival in served.insert(arrival.signal) },
                        forMode: .default)
                }
                for signal in [SIGHUP, SIGUSR1, SIGUSR2] { Signals.send(signal) }
                while served.count < 2 { try serveOne(loop) }
                #expect(dispatched.wait())
                #expect(served == [SIGHUP, SIGUSR1])
            }
            beside.cancel()
        }
    }
}

/// Runs the loop until a source is served.
func serveOne(_ loop: RunLoop) throws {
    try #require(loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
}
