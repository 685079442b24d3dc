import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Programs that finish their work when they are asked to end.
///
/// Each test has a process of its own, because signals belong to the process.
@Suite struct GracefulStopTests {
    /// Setting the handler releases the one before it, and that can destroy an object that uses the stop.
    @Test func `an object of a replaced handler may set that handler when it is destroyed`() async {
        await #expect(processExitsWith: .success) {
            let stop = try GracefulStop(deadline: .seconds(60)) { _ in }
            let isDestroyed = Shared()
            stop.onForcedEnd = {
                [parting = Parting { stop.onForcedEnd = { _ in isDestroyed.increment() } }] _ in
                parting.hold()
            }
            stop.onForcedEnd = { _ in }
            stop.onForcedEnd(.deadlinePassed)
            #expect(isDestroyed.count == 1)
            stop.invalidate()
        }
    }

    @Test
    func `the first signal begins the stop once, and finishing it ends the run and gives the signals back`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            Signals.ignore(SIGINT, false)
            for signal in [SIGTERM, SIGINT] {
                try onLoopThread { loop in
                    let events = Log<String>()
                    let stop = try GracefulStop(deadline: .seconds(60)) { stop in
                        events.add("begins \(stop.isStopping)")
                        // The remaining work takes some time.
                        Timer.scheduledTimer(withTimeInterval: .milliseconds(1), repeats: false) { _ in
                            stop.finish()
                        }
                        stop.begin()
                    }
                    stop.onForcedEnd = { events.add("forced: \($0)") }
                    try loop.add(stop, forMode: .common)
                    #expect(Signals.action(of: SIGTERM) == .handler && Signals.action(of: SIGINT) == .handler)
                    loop.perform { Signals.send(signal) }
                    #expect(loop.run(in: .default, until: .hang) == .stopped)
                    #expect(events.entries == ["begins true"])
                    #expect(stop.isStopping && !stop.isValid)
                    #expect(
                        Signals.action(of: SIGTERM) == .standard && Signals.action(of: SIGINT) == .standard)
                    stop.finish()
                    #expect(loop.run(in: .default, until: .hang) == .finished)
                }
            }
        }
    }

    @Test func `a second signal ends the process at once, with a status that names it`() async throws {
        try await #require(processExitsWith: .exitCode(128 + SIGINT)) {
            try runInterrupted(deadline: .seconds(60)) { _ in Signals.send(SIGINT) }
        }
        try await #require(processExitsWith: .exitCode(128 + SIGTERM)) {
            try runInterrupted(deadline: .seconds(60)) { _ in Signals.send(SIGTERM) }
        }
    }

    @Test func `a signal of another process ends it, too`() async throws {
        try await #require(processExitsWith: .exitCode(128 + SIGTERM)) {
            try runInterrupted(deadline: .seconds(60)) { _ in
                _ = Child(shell: "kill -TERM \(getpid())")
            }
        }
    }

    @Test func `the deadline ends the process, not before it has passed`() async throws {
        try await #require(processExitsWith: .exitCode(124)) {
            try runInterrupted(deadline: .milliseconds(1)) { _ in }
        }
        try await #require(processExitsWith: .success) {
            try onLoopThread { loop in
                var begin: ContinuousClock.Instant?
                let stop = try GracefulStop(deadline: .milliseconds(30)) { _ in begin = .now }
                stop.onForcedEnd = { end in
                    #expect(end == .deadlinePassed)
                    #expect(begin.map { .now >= $0 + .milliseconds(30) } == true)
                    loop.stop()
                }
                try loop.add(stop, forMode: .default)
                stop.begin()
                #expect(loop.run(in: .default, until: .hang) == .stopped)
            }
        }
    }

    @Test func `a handler of the forced end is called for each further signal, and the stop goes on`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            try onLoopThread { loop in
                let ends = Log<GracefulStop.ForcedEnd>()
                let stop = try GracefulStop(signals: [SIGUSR1, SIGUSR2], deadline: .seconds(60)) { _ in
                    Signals.send(SIGUSR1)
                }
                stop.onForcedEnd = { end in
                    ends.add(end)
                    if ends.entries.count == 1 { Signals.send(SIGUSR2) } else { stop.finish() }
                }
                try loop.add(stop, forMode: .default)
                Signals.send(SIGUSR2)
                #expect(loop.run(in: .default, until: .hang) == .stopped)
                #expect(ends.entries == [.signal(SIGUSR1), .signal(SIGUSR2)])
            }
        }
    }

    @Test
    func
        `a loop holds its stop, and nothing does once it is out of the loop, finished, or the loop has ended`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            for way in 0..<4 {
                let isGone = Gate()
                try onLoopThread { loop in
                    var stop: GracefulStop? = try GracefulStop(deadline: .seconds(60)) {
                        [canary = Canary(isGone)] stop in
                        canary.sing()
                        if way == 1 { stop.finish() }
                    }
                    // Without an addition to the loop.
                    guard way > 0, let added = stop else { return }
                    try loop.add(added, forMode: .default)
                    try loop.add(added, forMode: RunLoop.Mode("other"))
                    loop.remove(added, forMode: RunLoop.Mode("other"))
                    stop = nil
                    switch way {
                    case 1:
                        Signals.send(SIGTERM)
                        #expect(loop.run(in: .default, until: .hang) == .stopped)
                    case 2: loop.remove(added, forMode: .default)
                    default: break  // The loop ends.
                    }
                }
                #expect(isGone.wait())
                #expect(Signals.action(of: SIGTERM) == .standard)
            }
        }
    }

    @Test func `a stop that lacks a signal or a descriptor is an error and leaves nothing`() async throws {
        try await #require(processExitsWith: .success) {
            Signals.ignore(SIGINT, false)
            let interrupt = try SignalSource(SIGINT) { _, _ in }
            #expect(throws: SignalSourceError.self) { _ = try GracefulStop(deadline: .zero) { _ in } }
            #expect(Signals.action(of: SIGTERM) == .standard)
            interrupt.invalidate()
            let bound = try boundOfDescriptors()
            for free in 0..<8 {
                #expect(
                    refusal(bound, free: free) { _ = try GracefulStop(deadline: .zero) { _ in } } == EMFILE)
                #expect(openDescriptors(from: bound) == 0)
                #expect(Signals.action(of: SIGTERM) == .standard && Signals.action(of: SIGINT) == .standard)
            }
            #expect(refusal(bound, free: 8) { _ = try GracefulStop(deadline: .zero) { _ in } } == nil)
            #expect(openDescriptors(from: bound) == 0)
            try onLoopThread { loop in
                let stop = try GracefulStop(deadline: .seconds(60)) { _ in }
                #expect(throws: SystemError.self) {
                    try Faults.refusingWatches(ENOSPC) { try loop.add(stop, forMode: .default) }
                }
                #expect(loop.run(in: .default, until: .hang) == .finished)
                try loop.add(stop, forMode: .default)
                stop.invalidate()
                try loop.add(stop, forMode: .default)
                #expect(loop.run(in: .default, until: .hang) == .finished)
            }
        }
    }

    @Test func `a stop without signals, and one that another thread finishes, are misuse`() async {
        let without = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try GracefulStop(signals: [], deadline: .zero) { _ in }
        }
        #expect(without?.message.contains("GracefulStop.init: no signal would begin the stop") == true)
        let elsewhere = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            nonisolated(unsafe) let stop = try GracefulStop(deadline: .zero) { _ in }
            let isAdded = Gate()
            let thread = try BareThread {
                // Safe: this thread owns the stop until the gate opens. Then the other thread only ends the process.
                do { try unsafe RunLoop.current.add(stop, forMode: .default) } catch { Issue.record(error) }
                isAdded.open()
                _ = RunLoop.current.run(in: .default, until: .hang)
            }
            #expect(isAdded.wait())
            unsafe stop.finish()
            thread.join()
        }
        #expect(elsewhere?.message.contains("GracefulStop.finish: called outside the thread") == true)
    }
}

/// Runs a loop whose graceful stop begins with a `SIGTERM`, and never finishes by itself.
private func runInterrupted(deadline: Duration, _ begin: @escaping @Sendable (GracefulStop) -> Void) throws {
    try onLoopThread { loop in
        Signals.block(SIGTERM, false)
        let stop = try GracefulStop(deadline: deadline, begin: begin)
        try loop.add(stop, forMode: .common)
        Signals.send(SIGTERM)
        _ = loop.run(in: .default, until: .hang)
    }
}
