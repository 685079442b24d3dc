import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Runs of the loop inside the services of libraries.
@Suite struct LibrarySourceNestingTests {
    private let custom = RunLoop.Mode("custom")

    // Guarantees: While the service runs, a run inside it does not call it again.
    @Test func `a run inside the service neither calls it nor spins, and what is left comes afterwards`()
        throws
    {
        try onLoopThread { [custom] loop in
            for inner in [RunLoop.Mode.default, custom] {
                let wire = try Wire.pipe()
                defer { wire.close() }
                wire.send()
                var (depth, calls) = (0, 0)
                let source = try LibrarySource { source in
                    calls += 1
                    depth += 1
                    #expect(depth == 1)
                    if calls == 1 {
                        let passes = loop.statistics.passes
                        #expect(loop.run(in: inner, until: .now + .milliseconds(20)) == .timedOut)
                        // One pass notices the descriptor, and one sleeps. The kernel can cause some others.
                        #expect(loop.statistics.passes - passes < 20)
                    }
                    depth -= 1
                    if calls == 2 { source.invalidate() }
                }
                source.setInterest(.read, of: wire.near)
                for mode in [RunLoop.Mode.default, custom] { try loop.add(source, forMode: mode) }
                #expect(loop.run(in: .default, until: .hang) == .finished)
                #expect(calls == 2)
            }
        }
    }

    // Guarantees: A descriptor that becomes ready in the meantime, or a deadline that passes, is served afterwards.
    @Test
    func `a deadline and a descriptor that become due in a run inside the service are served afterwards`()
        throws
    {
        for date in [Duration.zero, .milliseconds(2)] {
            try onLoopThread { loop in
                let wire = try Wire.pipe()
                defer { wire.close() }
                let library = try PipeLibrary()
                library.source.setInterest(.read, of: wire.near)
                library.afterReports = { source in
                    if library.calls.count > 1 { return loop.stop() }
                    source.deadline = .now + date
                    wire.send()
                    let passes = loop.statistics.passes
                    #expect(loop.run(in: .default, until: .now + .milliseconds(10)) == .timedOut)
                    #expect(loop.statistics.passes - passes < 20)
                    #expect(library.calls.count == 1)
                }
                library.source.deadline = .now
                try loop.add(library.source, forMode: .default)
                #expect(loop.run(in: .default, until: .hang) == .stopped)
                #expect(library.calls.count == 2)
                #expect(library.calls[1].isDue)
                #expect(library.calls[1].descriptors == [wire.near])
                library.source.invalidate()
            }
        }
    }

    @Test
    func `a source that its service takes out of its loop and adds again is not re-entered, and goes on`()
        throws
    {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            wire.send()
            var (depth, calls) = (0, 0)
            let source = try LibrarySource { source in
                calls += 1
                depth += 1
                #expect(depth == 1)
                loop.remove(source, forMode: .default)
                do { try loop.add(source, forMode: .default) } catch { Issue.record(error) }
                let passes = loop.statistics.passes
                loop.run(in: .default, until: .now + .milliseconds(5))
                #expect(loop.statistics.passes - passes < 20)
                depth -= 1
                if calls == 3 { source.invalidate() }
            }
            source.setInterest(.read, of: wire.near)
            try loop.add(source, forMode: .default)
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(calls == 3)
        }
    }

    @Test func `two libraries serve in each other's services`() throws {
        try onLoopThread { loop in
            let (first, second) = (try PipeLibrary(), try PipeLibrary())
            for library in [first, second] {
                library.source.deadline = .now
                library.afterReports = { _ in
                    loop.run(in: .default, until: .distantPast, returnAfterSourceHandled: true)
                }
                try loop.add(library.source, forMode: .default)
            }
            loop.pass()
            #expect(first.calls.count == 1 && second.calls.count == 1)
            for library in [first, second] { library.source.invalidate() }
        }
    }
}
