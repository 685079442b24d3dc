import Glibc
import RunLoops
import TestSupport
import Testing

/// Descriptor sources that are added and removed, also while handlers run.
@Suite struct DescriptorSourceLifeTests {
    @Test func `removed or invalidated by an earlier handler of the same pass, a source is not called`()
        throws
    {
        for invalidates in [false, true] {
            try onLoopThread { loop in
                let wires = [try Wire.pipe(), try Wire.pipe(), try Wire.pipe()]
                defer { for wire in wires { wire.close() } }
                var sources: [DescriptorSource] = []
                var calls = 0
                for wire in wires {
                    wire.send()
                    sources.append(
                        DescriptorSource(wire.near, interest: .read) { _, _ in
                            calls += 1
                            // The other sources, and this one.
                            for source in sources {
                                if invalidates {
                                    source.invalidate()
                                } else {
                                    loop.remove(source, forMode: .default)
                                }
                            }
                        })
                }
                for source in sources { try loop.add(source, forMode: .default) }
                #expect(loop.run(in: .default, until: .hang) == .finished)
                #expect(calls == 1)
                for source in sources { #expect(source.isValid != invalidates) }
                sources = []
            }
        }
    }

    @Test func `removed while it was ready and added again, a source is served again`() throws {
        for trigger in [DescriptorSource.Trigger.level, .edge] {
            try onLoopThread { loop in
                let wires = [try Wire.pipe(), try Wire.pipe()]
                defer { for wire in wires { wire.close() } }
                var sources: [DescriptorSource] = []
                var calls = 0
                for wire in wires {
                    wire.send()
                    sources.append(
                        DescriptorSource(wire.near, interest: .read, trigger: trigger) { _, _ in
                            calls += 1
                            for source in sources { loop.remove(source, forMode: .default) }
                        })
                }
                for source in sources { try loop.add(source, forMode: .default) }
                #expect(loop.run(in: .default, until: .hang) == .finished)
                for round in 2...5 {
                    for source in sources { try loop.add(source, forMode: .default) }
                    #expect(loop.run(in: .default, until: .hang) == .finished)
                    #expect(calls == round)
                }
                // Added one by one, each source still reports.
                for source in sources {
                    try loop.add(source, forMode: .default)
                    #expect(loop.run(in: .default, until: .hang) == .finished)
                }
                #expect(calls == 7)
                sources = []
            }
        }
    }

    @Test func `a source that its own handler removes and adds is watched anew`() throws {
        for trigger in [DescriptorSource.Trigger.level, .edge] {
            try onLoopThread { loop in
                let wire = try Wire.pipe()
                defer { wire.close() }
                wire.send()
                var calls = 0
                let source = DescriptorSource(wire.near, interest: .read, trigger: trigger) { source, _ in
                    calls += 1
                    if calls == 3 { return source.invalidate() }
                    loop.run(until: .now)
                    loop.remove(source, forMode: .default)
                    // Added again with unread bytes, the descriptor is reported again.
                    do { try loop.add(source, forMode: .default) } catch { Issue.record(error) }
                }
                try loop.add(source, forMode: .default)
                #expect(loop.run(in: .default, until: .hang) == .finished)
                #expect(calls == 3)
            }
        }
    }

    @Test func `an invalid source stays out, and lets go of its handler`() throws {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            wire.send()
            let gone = Log<String>()
            let source = DescriptorSource(wire.near, interest: .read) {
                [canary = Canary { gone.add("gone") }] _, _ in
                canary.sing()
            }
            try loop.add(source, forMode: .default)
            source.invalidate()
            source.invalidate()
            #expect(gone.entries == ["gone"])
            #expect(!source.isValid)
            try loop.add(source, forMode: .default)
            #expect(loop.run(in: .default, until: .hang) == .finished)
        }
    }

    @Test func `two sources may watch one descriptor, and either may go first`() throws {
        for first in 0..<2 {
            try onLoopThread { loop in
                let wire = try Wire.sockets()
                defer { wire.close() }
                wire.send()
                var calls = [0, 0, 0]
                let sources = [DescriptorSource.Interest.read, .write, [.read, .write]].enumerated().map {
                    number, interest in
                    DescriptorSource(wire.near, interest: interest) { _, _ in calls[number] += 1 }
                }
                for source in sources { try loop.add(source, forMode: .default) }
                loop.run(until: .now)
                #expect(calls == [1, 1, 1])
                sources[first].invalidate()
                loop.run(until: .now)
                #expect(calls[first] == 1)
                #expect(calls[1 - first] == 2)
                sources[2].invalidate()
                loop.run(until: .now)
                #expect(calls[1 - first] == 3)
                sources[1 - first].invalidate()
                #expect(loop.run(in: .default, until: .hang) == .finished)
            }
        }
    }

    @Test func `sources of one descriptor have one trigger, and the last one takes it along`() async throws {
        try onLoopThread { loop in
            let wire = try Wire.sockets()
            defer { wire.close() }
            func source(_ trigger: DescriptorSource.Trigger) -> DescriptorSource {
                DescriptorSource(wire.near, interest: .read, trigger: trigger) { _, _ in }
            }
            for trigger in [DescriptorSource.Trigger.edge, .level, .edge] {
                let sources = [source(trigger), source(trigger)]
                for source in sources { try loop.add(source, forMode: .default) }
                // A source counts once, even in two modes.
                try loop.add(sources[0], forMode: RunLoop.Mode("other"))
                for source in sources { source.invalidate() }
            }
        }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { loop in
                let wire = try Wire.sockets()
                let reading = DescriptorSource(wire.near, interest: .read) { _, _ in }
                let writing = DescriptorSource(wire.near, interest: .write, trigger: .edge) { _, _ in }
                try loop.add(reading, forMode: .default)
                try loop.add(writing, forMode: .default)
            }
        }
        expect(
            result, says: "is edge-triggered, and another one in this loop watches that descriptor otherwise",
            "give all of them one trigger")
    }

    @Test func `what cannot be watched is refused, and the loop is as it was before`() throws {
        try onLoopThread { loop in
            let nothing = { (_: DescriptorSource, _: DescriptorSource.Readiness) in }
            // A number that no other test can get.
            let closed = DescriptorSource(-1, interest: .read, handler: nothing)
            #expect(throws: SystemError(call: "epoll_ctl", code: EBADF)) {
                try loop.add(closed, forMode: .default)
            }
            for path in ["/", "/dev/null"] {
                // Safe: the kernel only reads the path.
                let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
                defer { close(descriptor) }
                #expect(descriptor >= 0)
                let source = DescriptorSource(descriptor, interest: .read, handler: nothing)
                #expect(throws: SystemError(call: "epoll_ctl", code: EPERM), "\(path)") {
                    try loop.add(source, forMode: .default)
                }
                #expect(source.isValid)
            }
            #expect(loop.run(in: .default, until: .hang) == .finished)
        }
    }

    @Test func `a source that owns its descriptor closes it when it is invalidated`() throws {
        try onLoopThread { loop in
            let wire = try Wire.sockets()
            defer { wire.close() }
            let source = DescriptorSource(OwnedDescriptor(wire.giveAwayNear()), interest: .read) {
                _, _ in
            }
            try loop.add(source, forMode: .default)
            loop.remove(source, forMode: .default)
            #expect(!wire.isNearClosed())
            try loop.add(source, forMode: .default)
            source.invalidate()
            #expect(wire.nearCloses())
        }
    }

    @Test func `a source that owns its descriptor closes it when it goes, or its loop ends`() throws {
        let wires = [try Wire.sockets(), try Wire.sockets()]
        defer { for wire in wires { wire.close() } }
        let gone = Gate()
        try BareThread {
            // This source is in no loop.
            _ = DescriptorSource(OwnedDescriptor(wires[0].giveAwayNear()), interest: .read) { _, _ in }
            let source = DescriptorSource(OwnedDescriptor(wires[1].giveAwayNear()), interest: .read) {
                [canary = Canary(gone)] _, _ in
                canary.sing()
            }
            do { try RunLoop.current.add(source, forMode: .default) } catch { Issue.record(error) }
        }.join()
        #expect(gone.wait())
        for wire in wires { #expect(wire.nearCloses()) }
    }

    @Test func `a source that does not own its descriptor leaves it open`() throws {
        try onLoopThread { loop in
            let wire = try Wire.sockets()
            defer { wire.close() }
            let source = DescriptorSource(wire.near, interest: .read) { _, _ in }
            try loop.add(source, forMode: .default)
            source.invalidate()
            #expect(!wire.isNearClosed())
        }
    }
}
