import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Descriptor sources whose interest changes.
@Suite struct DescriptorInterestTests {
    private typealias Interest = DescriptorSource.Interest
    private typealias Readiness = DescriptorSource.Readiness

    // Guarantees: A source reports readiness for the interest that it has when its handler is called, whatever its interest was
    // before.
    @Test func `a source reports what it is interested in now, in any order of interests`() throws {
        let interests: [Interest] = [.read, .write, [.read, .write]]
        for trigger in [DescriptorSource.Trigger.level, .edge] {
            for first in interests {
                for second in interests {
                    try onLoopThread { loop in
                        let wire = try Wire.sockets()
                        defer { wire.close() }
                        wire.send()
                        var reported: [Readiness] = []
                        let source = DescriptorSource(wire.near, interest: first, trigger: trigger) {
                            _, ready in
                            reported.append(ready)
                        }
                        try loop.add(source, forMode: .default)
                        loop.pass()
                        source.interest = second
                        #expect(source.interest == second)
                        loop.pass()
                        let expected = trigger == .level || first != second ? [first, second] : [first]
                        #expect(reported == expected.map { Readiness(rawValue: $0.rawValue) })
                        source.invalidate()
                        #expect(loop.run(in: .default, until: .hang) == .finished)
                    }
                }
            }
        }
    }

    @Test func `a handler may change the interest of its source`() throws {
        try onLoopThread { loop in
            let wire = try Wire.sockets()
            defer { wire.close() }
            var log: [String] = []
            let source = DescriptorSource(wire.near, interest: .read) { source, ready in
                log.append("\(ready)")
                if ready.contains(.readable) {
                    wire.drain()
                    source.interest = [.read, .write]
                } else {
                    wire.fill()
                    wire.drainFar()
                    source.interest = .read
                }
            }
            try loop.add(source, forMode: .default)
            for _ in 0..<3 {
                wire.send()
                for _ in 0..<4 { loop.pass() }
            }
            #expect(
                log == ["[readable]", "[writable]", "[readable]", "[writable]", "[readable]", "[writable]"])
        }
    }

    // Guarantees: A source reports readiness for the interest that it has when its handler is called, whatever its interest was
    // before.
    @Test
    func `what a source is not interested in any more is not reported, though the kernel has reported it`()
        throws
    {
        try onLoopThread { loop in
            let (first, second) = (try Wire.sockets(), try Wire.sockets())
            defer { for wire in [first, second] { wire.close() } }
            var sources: [DescriptorSource] = []
            var log: [String] = []
            for (name, wire) in [("a", first), ("b", second)] {
                wire.send()
                sources.append(
                    DescriptorSource(wire.near, interest: [.read, .write]) { source, ready in
                        log.append("\(name) \(ready)")
                        for other in sources where other !== source { other.interest = .write }
                        source.interest = .read
                    })
            }
            for source in sources { try loop.add(source, forMode: .default) }
            loop.pass()
            #expect(log.count == 2)
            #expect(log.first?.hasSuffix("[readable, writable]") == true)
            #expect(log.last?.hasSuffix("[writable]") == true)
            sources = []
        }
    }

    @Test func `the kernel gets the last of several changes, and none that changes nothing`() throws {
        try onLoopThread { loop in
            let wire = try Wire.sockets()
            defer { wire.close() }
            let source = DescriptorSource(wire.near, interest: .read) { _, _ in }
            try loop.add(source, forMode: .default)
            // At the first report, the loop checks whether the descriptor was closed.
            wire.send()
            loop.pass()
            wire.drain()
            let before = Faults.watchCalls
            source.interest = .read
            loop.pass()
            for interest in [Interest.write, [.read, .write], .read] { source.interest = interest }
            loop.pass()
            #expect(Faults.watchCalls == before)
            // One call checks that the descriptor is still that of the source. The other call changes the interest.
            for interest in [[.read, .write], Interest.read] {
                let before = Faults.watchCalls
                for _ in 0..<10 { source.interest = .write }
                source.interest = interest
                loop.pass()
                #expect(Faults.watchCalls == before + 2)
            }
            source.invalidate()
        }
    }

    @Test
    func `an interest that is set while the source is in no loop, or in no mode that runs, counts later`()
        throws
    {
        try onLoopThread { loop in
            let other = RunLoop.Mode("other")
            let wire = try Wire.sockets()
            defer { wire.close() }
            wire.send()
            var reported: [Readiness] = []
            let source = DescriptorSource(wire.near, interest: .read) { _, ready in reported.append(ready) }
            source.interest = .write
            try loop.add(source, forMode: other)
            loop.pass(in: other)
            #expect(reported == [.writable])
            loop.add(Port<Int>(), forMode: .default) { _ in }
            loop.pass()
            source.interest = .read
            loop.pass()
            #expect(reported == [.writable])
            loop.pass(in: other)
            #expect(reported == [.writable, .readable])
            // The change is stored, and then discarded with the source.
            source.interest = .write
            loop.remove(source, forMode: other)
            loop.pass()
            source.interest = .read
            try loop.add(source, forMode: other)
            loop.pass(in: other)
            source.interest = .write
            loop.pass(in: other)
            #expect(reported == [.writable, .readable, .readable, .writable])
            source.invalidate()
            source.interest = .read
            #expect(source.interest == .write)
        }
    }

    @Test func `two sources of a descriptor change their interests each by itself`() throws {
        try onLoopThread { loop in
            let wire = try Wire.sockets()
            defer { wire.close() }
            wire.send()
            var reported: [Int: Readiness] = [:]
            let sources = (0..<2).map { number in
                DescriptorSource(wire.near, interest: .read) { _, ready in reported[number] = ready }
            }
            for source in sources { try loop.add(source, forMode: .default) }
            for (first, second) in [(Interest.write, Interest.read), (.write, .write), (.read, .write)] {
                (sources[0].interest, sources[1].interest) = (first, second)
                reported = [:]
                loop.pass()
                let expected = [0: first, 1: second].mapValues { Readiness(rawValue: $0.rawValue) }
                #expect(reported == expected)
            }
            for source in sources { source.invalidate() }
        }
    }

    @Test(arguments: [DescriptorSource.Trigger.level, .edge])
    func `a change that the kernel refuses is told to the source's owner, and is made later`(
        trigger: DescriptorSource.Trigger
    ) throws {
        try onLoopThread { loop in
            loop.waitPolicy = .park
            let wire = try Wire.sockets()
            defer { wire.close() }
            var (reported, refusals) = ([Readiness](), [SystemError]())
            let source = DescriptorSource(wire.near, interest: .read, trigger: trigger) { _, ready in
                reported.append(ready)
            }
            source.onWatchRefused { _, error in refusals.append(error) }
            try loop.add(source, forMode: .default)
            loop.pass()
            source.interest = .write
            let result = Faults.refusingChanges(ENOMEM) {
                Faults.refusingWatches(ENOMEM) { loop.run(in: .default, until: .now + .milliseconds(10)) }
            }
            #expect(result == .timedOut)
            #expect(refusals == [SystemError(call: "epoll_ctl", code: ENOMEM)])
            #expect(reported == [])
            #expect(loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
            #expect(reported == [.writable])
            source.invalidate()
        }
    }

    @Test
    func `an interest that is set after the descriptor was closed ends the program with the source's name`()
        async
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try warmUpRuntime()
            try onLoopThread { loop in
                let (wire, other) = (try Wire.sockets(), try Wire.sockets())
                let source = DescriptorSource(wire.near, interest: .read, line: 4_711) { _, _ in }
                try loop.add(source, forMode: .default)
                loop.pass()
                #expect(dup2(other.near, wire.near) == wire.near)
                source.interest = .write
                loop.pass()
            }
        }
        let says =
            "made at RunLoopsTests/DescriptorInterestTests.swift:4711 was closed; invalidate the source first"
        #expect(result?.message.contains(says) == true)
    }
}
