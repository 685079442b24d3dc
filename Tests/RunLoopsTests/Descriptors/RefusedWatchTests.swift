import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The kernel refuses to watch more descriptors, because the limit of the user is reached.
@Suite struct RefusedWatchTests {
    private static let refusal = SystemError(call: "epoll_ctl", code: ENOSPC)

    @Test func `a source that is not watched is an error, and the loop goes on as before`() throws {
        try onLoopThread { loop in
            let wires = [try Wire.pipe(), try Wire.pipe()]
            defer { for wire in wires { wire.close() } }
            var calls = [0, 0]
            let sources = wires.enumerated().map { number, wire in
                DescriptorSource(wire.near, interest: .read) { _, _ in
                    calls[number] += 1
                    wire.drain()
                }
            }
            try loop.add(sources[0], forMode: .default)
            #expect(throws: Self.refusal) {
                try Faults.refusingWatches(ENOSPC) { try loop.add(sources[1], forMode: .default) }
            }
            for wire in wires { wire.send() }
            #expect(loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
            #expect(calls == [1, 0])
            // When the kernel accepts new descriptors again, the source can be added.
            try loop.add(sources[1], forMode: .default)
            #expect(loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
            #expect(calls == [1, 1])
        }
    }

    @Test func `a loop that is not watched is an error, and leaves nothing open`() async throws {
        try await #require(processExitsWith: .success) {
            let bound = try boundOfDescriptors()
            try BareThread {
                for _ in 0..<3 {
                    #expect(throws: Self.refusal) {
                        try Faults.refusingWatches(ENOSPC) { _ = try RunLoop.makeCurrent() }
                    }
                    #expect(openDescriptors(from: bound) == 0)
                }
                #expect(RunLoop.current.perform {})
                #expect(RunLoop.current.run(in: .default, until: .hang) == .finished)
            }.join()
        }
    }

    // Guarantees: If the kernel refuses to watch a source after a change of mode, ``DescriptorSource/onWatchRefused(_:)`` is
    // called, or ``RunLoopDiagnostics`` reports it.
    // Guarantees: The readiness of its descriptor is reported when the kernel watches it again.
    @Test(arguments: [DescriptorSource.Trigger.level, .edge])
    func `a source that a change of modes cannot have watched is told to its owner, and loses nothing`(
        trigger: DescriptorSource.Trigger
    ) throws {
        try onLoopThread { loop in
            loop.waitPolicy = .park
            let wire = try Wire.pipe()
            defer { wire.close() }
            var (calls, refusals) = (0, [SystemError]())
            let source = DescriptorSource(wire.near, interest: .read, trigger: trigger) { _, _ in
                calls += 1
                wire.drain()
            }
            source.onWatchRefused { _, error in refusals.append(error) }
            try loop.add(source, forMode: .default)
            for round in 1...2 {
                runInAnotherMode(loop)
                wire.send()
                let passes = loop.statistics.passes
                let result = Faults.refusingWatches(ENOSPC) {
                    loop.run(in: .default, until: .now + .milliseconds(20))
                }
                #expect(result == .timedOut)
                #expect(refusals == Array(repeating: Self.refusal, count: round))
                #expect(calls == round - 1)
                // The loop tries again after pauses, and does not spin.
                #expect(loop.statistics.passes - passes < 30)
                #expect(
                    loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
                #expect(calls == round)
            }
            source.invalidate()
        }
    }

    @Test
    func `a source whose handler of refusals ends it is tried no more, and a run without others finishes`()
        throws
    {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            let source = DescriptorSource(wire.near, interest: .read) { _, _ in Issue.record("it has ended") }
            source.onWatchRefused { source, _ in source.invalidate() }
            try loop.add(source, forMode: .default)
            runInAnotherMode(loop)
            wire.send()
            let result = Faults.refusingWatches(ENOMEM) { loop.run(in: .default, until: .hang) }
            #expect(result == .finished)
        }
    }

    @Test func `a source that is refused when a run inside its handler has returned is watched later`() throws
    {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            var (calls, refusals) = (0, 0)
            let source = DescriptorSource(wire.near, interest: .read) { _, _ in
                calls += 1
                if calls == 1 { loop.run(in: .default, until: .now + .milliseconds(1)) }
                if calls == 2 { wire.drain() }
            }
            source.onWatchRefused { _, _ in
                refusals += 1
                loop.stop()
            }
            try loop.add(source, forMode: .default)
            wire.send()
            Faults.refusingWatches(ENOSPC) { _ = loop.run(in: .default, until: .hang) }
            #expect((calls, refusals) == (1, 1))
            #expect(loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
            #expect(calls == 2)
            source.invalidate()
        }
    }

    // Guarantees: If the kernel refuses to watch a source after a change of mode, ``DescriptorSource/onWatchRefused(_:)`` is
    // called, or ``RunLoopDiagnostics`` reports it.
    @Test func `a refusal that no handler hears is written down, and a signal and a child come later`()
        async throws
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try onLoopThread { loop in
                var arrivals = 0
                let signal = try SignalSource(SIGUSR1) { _, _ in arrivals += 1 }
                let child = Child(shell: "exit 3")
                var endings: [ProcessSource.Ending] = []
                let process = try ProcessSource(child.processID) { _, ending in endings.append(ending) }
                try loop.add(signal, forMode: .default)
                try loop.add(process, forMode: .default)
                runInAnotherMode(loop)
                Signals.send(SIGUSR1)
                Faults.refusingWatches(ENOSPC) { _ = loop.run(in: .default, until: .now + .milliseconds(5)) }
                #expect(arrivals == 0 && endings.isEmpty)
                while arrivals == 0 || endings.isEmpty {
                    #expect(
                        loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource
                    )
                }
                #expect(endings == [.exited(3)])
                signal.invalidate()
                DiagnosticQueue.drainProcess(until: .hang)
            }
        }
        let says = "RunLoop: epoll_ctl: No space left on device (28) for the source of descriptor "
        expect(result, says: says, "RefusedWatchTests.swift")
    }

    /// Setting the handler releases the one before it, and that can destroy an object that uses the source.
    @Test func `an object of a replaced handler may set that handler when it is destroyed`() throws {
        let wire = try Wire.pipe()
        defer { wire.close() }
        let source = DescriptorSource(wire.near, interest: .read) { _, _ in }
        let isDestroyed = Shared()
        source.onWatchRefused {
            [
                parting = Parting {
                    isDestroyed.increment()
                    source.onWatchRefused { _, _ in }
                }
            ] _, _ in
            parting.hold()
        }
        source.onWatchRefused { _, _ in }
        #expect(isDestroyed.count == 1)
        source.invalidate()
    }
}

/// Runs the loop in a mode that has no source.
private func runInAnotherMode(_ loop: RunLoop) {
    loop.perform(inModes: [.init("other")]) {}
    loop.run(in: .init("other"), until: .now)
}

/// Expects that a process has written these texts before it ended.
private func expect(_ result: ExitTest.Result?, says parts: String...) {
    for part in parts { #expect(result?.message.contains(part) == true, "\(result?.message ?? "")") }
}
