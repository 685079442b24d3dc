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
            try onLoopThread { loop in
                var ends = 0
                let stop = try GracefulStop(within: .seconds(60)) { _ in }
                let last = { (stop: GracefulStop, _: GracefulStop.ForcedEnd) in
                    ends += 1
                    stop.finish()
                }
                stop.onForcedEnd { [parting = Parting { stop.onForcedEnd(last) }] _, _ in parting.hold() }
                stop.onForcedEnd { _, _ in Issue.record("this handler was replaced") }
                try loop.add(stop, forMode: .default)
                stop.begin()
                Signals.send(SIGTERM)
                #expect(loop.run(in: .default, until: .hang) == .stopped)
                #expect(ends == 1)
            }
        }
    }

    // Guarantees: A graceful stop begins once.
    @Test
    func `the first signal begins the stop once, and finishing it ends the run and gives the signals back`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            Signals.ignore(SIGINT, false)
            for signal in [SIGTERM, SIGINT] {
                try onLoopThread { loop in
                    let events = Log<String>()
                    let stop = try GracefulStop(within: .seconds(60)) { stop in
                        events.add("begins \(stop.isStopping)")
                        // The remaining work takes some time.
                        Timer.scheduledTimer(withTimeInterval: .milliseconds(1), repeats: false) { _ in
                            stop.finish()
                        }
                        stop.begin()
                    }
                    stop.onForcedEnd { _, end in events.add("forced: \(end)") }
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

    // Guarantees: Until it is finished, a further signal ends the process at once, and the deadline ends the process when it has
    // passed, not earlier; the exit statuses are those of ``GracefulStop/ForcedEnd/exitStatus``.
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

    // Guarantees: Until it is finished, a further signal ends the process at once, and the deadline ends the process when it has
    // passed, not earlier; the exit statuses are those of ``GracefulStop/ForcedEnd/exitStatus``.
    @Test func `the deadline ends the process, not before it has passed`() async throws {
        try await #require(processExitsWith: .exitCode(124)) {
            try runInterrupted(deadline: .milliseconds(1)) { _ in }
        }
        try await #require(processExitsWith: .success) {
            try onLoopThread { loop in
                var begin: ContinuousClock.Instant?
                let stop = try GracefulStop(within: .milliseconds(30)) { _ in begin = .now }
                stop.onForcedEnd { _, end in
                    #expect(end == .timedOut)
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
                let stop = try GracefulStop(signals: [SIGUSR1, SIGUSR2], within: .seconds(60)) { _ in
                    Signals.send(SIGUSR1)
                }
                stop.onForcedEnd { _, end in
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
                    var stop: GracefulStop? = try GracefulStop(within: .seconds(60)) {
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
            #expect(throws: SignalSourceError.self) { _ = try GracefulStop(within: .zero) { _ in } }
            #expect(Signals.action(of: SIGTERM) == .standard)
            interrupt.invalidate()
            let bound = try boundOfDescriptors()
            for free in 0..<8 {
                #expect(
                    refusal(bound, free: free) { _ = try GracefulStop(within: .zero) { _ in } } == EMFILE)
                #expect(openDescriptors(from: bound) == 0)
                #expect(Signals.action(of: SIGTERM) == .standard && Signals.action(of: SIGINT) == .standard)
            }
            #expect(refusal(bound, free: 8) { _ = try GracefulStop(within: .zero) { _ in } } == nil)
            #expect(openDescriptors(from: bound) == 0)
            try onLoopThread { loop in
                let stop = try GracefulStop(within: .seconds(60)) { _ in }
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

    @Test func `a stop without signals is misuse`() async {
        let without = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try GracefulStop(signals: [], within: .zero) { _ in }
        }
        #expect(without?.message.contains("GracefulStop.init: no signal would begin the stop") == true)
    }

    @Test func `another thread may finish a stop, which ends one run and calls no handler afterwards`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            for _ in 0..<20 {
                let (begins, finishes) = (Shared(), Gate())
                try onLoopThread { loop in
                    nonisolated(unsafe) let stop = try GracefulStop(within: .seconds(60)) { _ in
                        begins.increment()
                        finishes.open()
                    }
                    try loop.add(unsafe stop, forMode: .common)
                    let finishing = try BareThread {
                        #expect(finishes.wait())
                        unsafe stop.finish()
                        #expect(unsafe !stop.isValid)
                        unsafe stop.finish()
                    }
                    unsafe stop.begin()
                    loop.add(Timer(timeInterval: .seconds(600), repeats: true) { _ in }, forMode: .default)
                    #expect(loop.run(in: .default, until: .hang) == .stopped)
                    finishing.join()
                    #expect(unsafe !stop.isValid)
                    #expect(loop.run(in: .default, until: .distantPast) == .timedOut)
                    #expect(begins.count == 1)
                }
            }
        }
    }

    @Test func `a stop that is in no loop, and is finished elsewhere, stops no run`() async throws {
        try await #require(processExitsWith: .success) {
            try onLoopThread { loop in
                nonisolated(unsafe) let stop = try GracefulStop(within: .seconds(60)) { _ in }
                try loop.add(unsafe stop, forMode: .common)
                loop.remove(unsafe stop, forMode: .common)
                try BareThread { unsafe stop.finish() }.join()
                #expect(unsafe !stop.isValid)
                loop.add(Timer(timeInterval: .seconds(600), repeats: true) { _ in }, forMode: .default)
                #expect(loop.run(in: .default, until: .distantPast) == .timedOut)
            }
        }
    }
}

/// Runs a loop whose graceful stop begins with a `SIGTERM`, and never finishes by itself.
private func runInterrupted(deadline: Duration, _ begin: @escaping @Sendable (GracefulStop) -> Void) throws {
    try onLoopThread { loop in
        Signals.block(SIGTERM, false)
        let stop = try GracefulStop(within: deadline, begin: begin)
        try loop.add(stop, forMode: .common)
        Signals.send(SIGTERM)
        _ = loop.run(in: .default, until: .hang)
    }
}
