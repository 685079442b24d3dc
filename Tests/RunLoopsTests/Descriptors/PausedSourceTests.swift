import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Descriptor sources that an empty interest pauses.
@Suite struct PausedSourceTests {
    typealias Trigger = DescriptorSource.Trigger
    private typealias Readiness = DescriptorSource.Readiness

    // Guarantees: A source whose interest is empty keeps its modes alive, and its handler is not called.
    // Guarantees: What has become ready meanwhile, a hang-up included, is reported when the source has an interest again.
    @Test(arguments: [Trigger.level, .edge], [false, true])
    func `a paused source keeps its mode alive, is not served, and reports later what came meanwhile`(
        trigger: Trigger, beginsPaused: Bool
    ) throws {
        try onLoopThread { loop in
            let wire = try Wire.sockets()
            defer { wire.close() }
            var reported: [Readiness] = []
            let source = DescriptorSource(
                wire.near, interest: beginsPaused ? [] : .read, trigger: trigger
            ) { _, ready in
                wire.drain()
                reported.append(ready)
            }
            try loop.add(source, forMode: .default)
            loop.pass()
            source.interest = []
            wire.send(3)
            #expect(loop.run(in: .default, until: .now + .milliseconds(5)) == .timedOut)
            wire.close(wire.far)
            #expect(loop.run(in: .default, until: .now + .milliseconds(5)) == .timedOut)
            #expect(reported == [])
            source.interest = .read
            #expect(loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
            #expect(reported == [[.readable, .hangUp]])
            source.interest = []
            loop.pass()
            source.invalidate()
            #expect(loop.run(in: .default, until: .hang) == .finished)
        }
    }

    @Test(arguments: [Trigger.level, .edge])
    func `a handler that pauses its source leaves the rest in the kernel until it is resumed`(
        trigger: Trigger
    ) throws {
        try onLoopThread { loop in
            let wire = try Wire.sockets()
            defer { wire.close() }
            let sent = 100
            wire.send(sent)
            var (taken, calls) = (0, 0)
            let source = DescriptorSource(wire.near, interest: .read, trigger: trigger) { source, _ in
                var bytes = [UInt8](repeating: 0, count: 10)
                // Safe: the kernel writes at most the length of the array.
                taken += unsafe read(source.descriptor, &bytes, bytes.count)
                calls += 1
                source.interest = []
            }
            try loop.add(source, forMode: .default)
            for turn in 1...sent / 10 {
                for _ in 0..<3 { loop.pass() }
                #expect(calls == turn)
                #expect(taken == turn * 10)
                source.interest = .read
            }
            loop.pass()
            #expect(calls == sent / 10)
            source.invalidate()
        }
    }

    @Test func `a source that another handler pauses in the same pass is not served, not even for an end`()
        throws
    {
        try onLoopThread { loop in
            let wires = [try Wire.sockets(), try Wire.sockets()]
            defer { for wire in wires { wire.close() } }
            var sources: [DescriptorSource] = []
            var calls = 0
            for wire in wires {
                sources.append(
                    DescriptorSource(wire.near, interest: [.read, .write]) { source, _ in
                        calls += 1
                        for other in sources { other.interest = [] }
                    })
                wire.close(wire.far)
            }
            for source in sources { try loop.add(source, forMode: .default) }
            for _ in 0..<3 { loop.pass() }
            #expect(calls == 1)
            for source in sources { source.invalidate() }
            sources = []
        }
    }

    @Test func `of two sources of a descriptor, one that is paused does not pause the other`() throws {
        try onLoopThread { loop in
            let wire = try Wire.sockets()
            defer { wire.close() }
            wire.send()
            var calls: [Int] = []
            let sources = (0..<2).map { number in
                DescriptorSource(wire.near, interest: .read) { _, _ in calls.append(number) }
            }
            for source in sources { try loop.add(source, forMode: .default) }
            sources[0].interest = []
            loop.pass()
            #expect(calls == [1])
            (sources[0].interest, sources[1].interest) = (.read, [])
            loop.pass()
            #expect(calls == [1, 0])
            for source in sources { source.invalidate() }
        }
    }

    @Test func `a descriptor that is closed under a paused source ends the program when it is resumed`() async
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try warmUpRuntime()
            try onLoopThread { loop in
                let (wire, other) = (try Wire.sockets(), try Wire.sockets())
                let source = DescriptorSource(wire.near, interest: [], line: 4_711) { _, _ in }
                try loop.add(source, forMode: .default)
                loop.pass()
                #expect(dup2(other.near, wire.near) == wire.near)
                source.interest = .read
                loop.pass()
            }
        }
        let says =
            "made at RunLoopsTests/PausedSourceTests.swift:4711 was closed; invalidate the source first"
        #expect(result?.message.contains(says) == true)
    }
}
