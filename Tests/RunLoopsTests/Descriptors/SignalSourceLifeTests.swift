import Dispatch
import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// The sources of a signal over time, and the signals that arrive between them.
///
/// Each test has a process of its own, because signals belong to the process.
@Suite struct SignalSourceLifeTests {
    @Test func `a signal has one source; a second one is an error that says where the first was made`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            try onLoopThread { loop in
                let nothing = { (_: SignalSource, _: SignalSource.Arrival) in }
                for ends in 0..<3 {
                    var first: SignalSource? = try SignalSource(
                        SIGHUP, fileID: "Module/first.swift", line: 7, handler: nothing)
                    let taken = #expect(throws: SignalSourceError.self) {
                        try SignalSource(SIGHUP, handler: nothing)
                    }
                    #expect(taken?.reason == .taken && taken?.signal == SIGHUP)
                    #expect(taken?.ownerPlace == "Module/first.swift:7")
                    switch ends {
                    case 0: first?.invalidate()
                    case 1: break
                    default:
                        // The loop alone holds the source until its removal.
                        if let source = first { try loop.add(source, forMode: .default) }
                        let kept = first
                        first = nil
                        #expect(throws: SignalSourceError.self) { try SignalSource(SIGHUP, handler: nothing) }
                        if let kept { loop.remove(kept, forMode: .default) }
                    }
                    withExtendedLifetime(first) {}
                    first = nil
                }
                _ = try SignalSource(SIGHUP, handler: nothing)
            }
        }
    }

    @Test func `what other code handles is not taken from it`() async throws {
        try await #require(processExitsWith: .success) {
            let beside = DispatchSource.makeSignalSource(signal: SIGUSR1, queue: .global())
            let dispatched = Gate()
            beside.setEventHandler { dispatched.open() }
            beside.activate()
            Signals.handle(SIGUSR2)
            // Dispatch sets its signal handler on a thread of its own.
            while Signals.action(of: SIGUSR1) != .handler { sched_yield() }
            for signal in [SIGUSR1, SIGUSR2] {
                #expect(throws: SignalSourceError(.handledElsewhere, signal: signal)) {
                    try SignalSource(signal) { _, _ in }
                }
            }
            Signals.send(SIGUSR1)
            #expect(dispatched.wait())
            beside.cancel()
        }
    }

    // Guarantees: When a source has ended, its signal does what it did before the source was made.
    @Test func `when a source ends, its signal does again what it did before`() async throws {
        try await #require(processExitsWith: .success) {
            for isIgnored in [false, true] {
                Signals.ignore(SIGTERM, isIgnored)
                let before = Signals.action(of: SIGTERM)
                #expect(before == (isIgnored ? .ignored : .standard))
                let source = try SignalSource(SIGTERM) { _, _ in }
                #expect(Signals.action(of: SIGTERM) == .handler)
                source.invalidate()
                #expect(Signals.action(of: SIGTERM) == before)
                #expect(!source.isValid)
                source.invalidate()
                // By the release of the source, and by the end of its loop.
                _ = try SignalSource(SIGTERM) { _, _ in }
                #expect(Signals.action(of: SIGTERM) == before)
                try BareThread {
                    do {
                        try RunLoop.current.add(SignalSource(SIGTERM) { _, _ in }, forMode: .default)
                    } catch { Issue.record(error) }
                    #expect(Signals.action(of: SIGTERM) == .handler)
                }.join()
                #expect(Signals.action(of: SIGTERM) == before)
            }
        }
    }

    @Test func `a source that its loop's end finds in use becomes invalid, and gives its signal back`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            let gone = Gate()
            nonisolated(unsafe) let source = try SignalSource(SIGTERM) { [canary = Canary(gone)] _, _ in
                canary.sing()
            }
            // Safe: this thread waits for the other one.
            nonisolated(unsafe) let process = try ProcessSource(getppid()) { _, _ in }
            try BareThread {
                do {
                    try unsafe RunLoop.current.add(source, forMode: .default)
                    try unsafe RunLoop.current.add(process, forMode: .default)
                } catch { Issue.record(error) }
            }.join()
            #expect(unsafe !source.isValid && !process.isValid)
            #expect(gone.wait(seconds: 1))
            #expect(Signals.action(of: SIGTERM) == .standard)
        }
    }

    @Test func `a handler that other code has installed meanwhile is left to it`() async throws {
        try await #require(processExitsWith: .success) {
            let source = try SignalSource(SIGTERM) { _, _ in }
            Signals.ignore(SIGTERM)
            source.invalidate()
            #expect(Signals.action(of: SIGTERM) == .ignored)
        }
    }

    // Guarantees: From its creation to its end, a source loses no signal that the kernel gives to the process, and takes no signal
    // that is not its own.
    @Test func `a signal that comes while its mode does not run, or it is in none, is kept`() async throws {
        try await #require(processExitsWith: .success) {
            try onLoopThread { loop in
                let custom = RunLoop.Mode("custom")
                var modes: [RunLoop.Mode?] = []
                let source = try SignalSource(SIGTERM) { _, _ in modes.append(loop.currentMode) }
                Signals.send(SIGTERM)
                #expect(loop.run(in: .default, until: .hang) == .finished)
                try loop.add(source, forMode: custom)
                loop.add(Port<Void>(), forMode: .default) {}
                #expect(loop.run(in: .default, until: .now) == .timedOut)
                #expect(modes == [])
                loop.run(mode: custom, before: .hang)
                #expect(modes == [custom])
                Signals.send(SIGTERM)
                loop.remove(source, forMode: custom)
                #expect(loop.run(in: custom, until: .hang) == .finished)
                try loop.add(source, forMode: .common)
                loop.run(mode: .default, before: .hang)
                #expect(modes == [custom, .default])
                // The mode becomes common after the source was added.
                loop.addCommonMode(custom)
                Signals.send(SIGTERM)
                loop.run(mode: custom, before: .hang)
                #expect(modes == [custom, .default, custom])
            }
        }
    }

    @Test func `a run inside the handler does not call it again; the signal waits`() async throws {
        try await #require(processExitsWith: .success) {
            try onLoopThread { loop in
                var depths: [Int] = []
                var depth = 0
                let source = try SignalSource(SIGTERM) { _, _ in
                    depth += 1
                    depths.append(depth)
                    if depths.count == 1 {
                        Signals.send(SIGTERM)
                        Signals.block(SIGTERM)
                        Signals.sendToThread(SIGTERM)
                        loop.run(until: .now)
                        loop.run(until: .now + .milliseconds(20))
                        Signals.block(SIGTERM, false)
                    }
                    depth -= 1
                }
                try loop.add(source, forMode: .default)
                Signals.send(SIGTERM)
                while depths.count < 3 { try serveOne(loop) }
                #expect(depths == [1, 1, 1])
            }
        }
    }

    // Guarantees: After a source was removed from its last mode, or invalidated, no handler of the source starts.
    @Test func `a handler may end its source, or take it out of the loop, with signals waiting`() async throws
    {
        try await #require(processExitsWith: .success) {
            try onLoopThread { loop in
                let signal = SIGUSR1 + 30
                for ends in [true, false] {
                    var calls = 0
                    let source = try SignalSource(signal) { source, _ in
                        calls += 1
                        if ends { source.invalidate() } else { loop.remove(source, forMode: .default) }
                    }
                    for _ in 0..<3 { Signals.queue(signal) }
                    try loop.add(source, forMode: .default)
                    #expect(loop.run(in: .default, until: .hang) == .finished)
                    #expect(calls == 1)
                    // Added again, a valid source continues with the next signal. An invalid one is not added.
                    try loop.add(source, forMode: .default)
                    #expect(loop.run(in: .default, until: .hang) == .finished)
                    #expect(calls == (ends ? 1 : 2))
                    source.invalidate()
                }
            }
        }
    }

    @Test func `a source lets go of its handler when it ends, and the loop holds it until then`() async throws
    {
        try await #require(processExitsWith: .success) {
            try onLoopThread { loop in
                for ends in [true, false] {
                    let gone = Gate()
                    weak var known: SignalSource?
                    do {
                        let source = try SignalSource(SIGTERM) { [canary = Canary(gone)] source, _ in
                            canary.sing()
                            if ends { source.invalidate() } else { loop.remove(source, forMode: .default) }
                        }
                        known = source
                        try loop.add(source, forMode: .default)
                    }
                    #expect(known != nil)
                    Signals.send(SIGTERM)
                    #expect(loop.run(in: .default, until: .hang) == .finished)
                    #expect(gone.wait(seconds: 1))
                    #expect(known == nil)
                }
            }
        }
    }

    // With the thread sanitizer, a child that was forked from several threads receives no signals.
    @Test(.enabled(if: Allocations.areCounted))
    func `in a forked child the signal does what it did before, and the parent's source hears nothing`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            try onLoopThread { loop in
                for signal in [SIGTERM, SIGHUP] { Signals.block(signal, false) }
                var calls = 0
                let source = try SignalSource(SIGTERM) { _, _ in calls += 1 }
                try loop.add(source, forMode: .default)
                #expect(
                    Child {
                        kill(getpid(), SIGTERM); return 0
                    }.wait() == .killed(SIGTERM))
                Signals.ignore(SIGHUP)
                let hangUp = try SignalSource(SIGHUP) { _, _ in calls += 1 }
                try loop.add(hangUp, forMode: .default)
                #expect(
                    Child {
                        kill(getpid(), SIGHUP); return 3
                    }.wait() == .exited(3))
                while loop.run(in: .default, until: .now, returnAfterSourceHandled: true) == .handledSource {}
                #expect(calls == 0)
                Signals.send(SIGTERM)
                #expect(
                    loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
                #expect(calls == 1)
            }
        }
    }

    @Test func `another program that is started neither blocks nor ignores the signal`() async throws {
        try await #require(processExitsWith: .success) {
            try onLoopThread { loop in
                Signals.block(SIGTERM, false)
                let source = try SignalSource(SIGTERM) { _, _ in }
                try loop.add(source, forMode: .default)
                loop.run(until: .now)
                #expect(!Signals.isBlocked(SIGTERM))
                #expect(Child(shell: "kill -TERM $$; exit 1", inheritsMask: true).wait() == .killed(SIGTERM))
                #expect(Child { Child.exec("kill -TERM $$; exit 1") }.wait() == .killed(SIGTERM))
            }
        }
    }

    @Test func `the kernel's refusal is an error that leaves nothing open, and the signal as it was`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            let nothing = { (_: SignalSource, _: SignalSource.Arrival) in }
            let bound = try boundOfDescriptors()
            for free in 0..<4 {
                #expect(
                    refusal(bound, free: free) { _ = try SignalSource(SIGTERM, handler: nothing) } == EMFILE)
                #expect(openDescriptors(from: bound) == 0)
                #expect(Signals.action(of: SIGTERM) == .standard)
            }
            let enough = refusal(bound, free: 4) {
                for _ in 0..<1_000 { _ = try SignalSource(SIGTERM, handler: nothing) }
            }
            #expect(enough == nil)
            #expect(openDescriptors(from: bound) == 0)
        }
    }

    @Test func `a source that ends while signals come writes nothing into a descriptor opened after it`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            Signals.ignore(SIGUSR1)
            let done = Shared()
            let senders = try (0..<3).map { _ in
                try BareThread { while done.count == 0 { Signals.send(SIGUSR1) } }
            }
            for _ in 0..<500 {
                let source = try SignalSource(SIGUSR1) { _, _ in }
                sched_yield()
                source.invalidate()
                // These descriptors have the numbers that the source used.
                let wires = [try Wire.pipe(), try Wire.pipe()]
                sched_yield()
                for wire in wires {
                    #expect(wire.drain() == 0)
                    wire.close()
                }
            }
            done.increment()
            for sender in senders { sender.join() }
        }
    }
}
