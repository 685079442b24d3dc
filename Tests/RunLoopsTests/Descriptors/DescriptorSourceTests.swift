import Glibc
import RunLoops
import TestSupport
import Testing

/// The reports of a descriptor source, and the times at which they occur.
@Suite struct DescriptorSourceTests {
    private typealias Readiness = DescriptorSource.Readiness

    // Guarantees: A descriptor that was ready before it was added is reported.
    @Test func `what was readable before the source was added is reported`() throws {
        for trigger in [DescriptorSource.Trigger.level, .edge] {
            try onLoopThread { loop in
                let wire = try Wire.pipe()
                defer { wire.close() }
                wire.send()
                var reported: [Readiness] = []
                let source = DescriptorSource(wire.near, interest: .read, trigger: trigger) { source, ready in
                    reported.append(ready)
                    #expect(source.descriptor == wire.near)
                    #expect(wire.drain() == 1)
                }
                try loop.add(source, forMode: .default)
                let result = loop.run(in: .default, until: .hang, returnAfterSourceHandled: true)
                #expect(result == .handledSource)
                #expect(reported == [.readable])
            }
        }
    }

    @Test func `what another thread writes wakes the loop`() throws {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            let source = DescriptorSource(wire.near, interest: .read) { _, _ in wire.drain() }
            try loop.add(source, forMode: .default)
            let writer = try BareThread {
                waitUntilAsleep(loop)
                wire.send()
            }
            let result = loop.run(in: .default, until: .hang, returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            writer.join()
        }
    }

    @Test func `a socket is reported writable, and readable too when something comes`() throws {
        try onLoopThread { loop in
            let wire = try Wire.sockets()
            defer { wire.close() }
            var reported: [Readiness] = []
            let source = DescriptorSource(wire.near, interest: [.read, .write]) { _, ready in
                reported.append(ready)
            }
            try loop.add(source, forMode: .default)
            serve(loop, once: source)
            wire.send()
            serve(loop, once: source)
            wire.fill()
            serve(loop, once: source)
            #expect(reported == [.writable, [.readable, .writable], .readable])
        }
    }

    @Test func `room in a full socket is reported when the other end has read`() throws {
        for trigger in [DescriptorSource.Trigger.level, .edge] {
            try onLoopThread { loop in
                let wire = try Wire.sockets()
                defer { wire.close() }
                wire.fill()
                var reported: [Readiness] = []
                let source = DescriptorSource(wire.near, interest: .write, trigger: trigger) { _, ready in
                    reported.append(ready)
                }
                try loop.add(source, forMode: .default)
                loop.run(until: .now)
                #expect(reported == [])
                wire.drainFar()
                serve(loop, once: source)
                #expect(reported == [.writable])
            }
        }
    }

    @Test func `the other end's closing is reported, with what is left to read`() throws {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            var reported: [Readiness] = []
            let source = DescriptorSource(wire.near, interest: .read) { _, ready in
                reported.append(ready)
                wire.drain()
            }
            try loop.add(source, forMode: .default)
            wire.send()
            wire.close(wire.far)
            #expect(Wire.otherEndCloses(of: wire.near))
            serve(loop, once: source)
            serve(loop, once: source)
            #expect(reported == [[.readable, .hangUp], .hangUp])
        }
    }

    @Test func `a socket whose other end has ended writing hangs up`() throws {
        try onLoopThread { loop in
            let wire = try Wire.sockets()
            defer { wire.close() }
            var reported: [Readiness] = []
            let source = DescriptorSource(wire.near, interest: .read) { _, ready in reported.append(ready) }
            try loop.add(source, forMode: .default)
            shutdown(wire.far, CInt(SHUT_WR))
            serve(loop, once: source)
            #expect(reported == [[.readable, .hangUp]])
        }
    }

    @Test func `a pipe that nobody reads any more is an error`() throws {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            var reported: [Readiness] = []
            let source = DescriptorSource(wire.far, interest: .write) { _, ready in reported.append(ready) }
            try loop.add(source, forMode: .default)
            wire.close(wire.near)
            #expect(Wire.otherEndCloses(of: wire.far))
            serve(loop, once: source)
            #expect(reported == [[.writable, .error]])
        }
    }

    // Guarantees: The readiness that is reported is the kernel's answer in the same pass, and includes hang-ups and errors.
    @Test func `what is not asked for is not reported`() throws {
        try onLoopThread { loop in
            let wire = try Wire.sockets()
            defer { wire.close() }
            wire.send()
            var reported: [Readiness] = []
            for interest in [DescriptorSource.Interest.write, .read] {
                let source = DescriptorSource(wire.near, interest: interest) { source, ready in
                    reported.append(ready)
                    source.invalidate()
                }
                try loop.add(source, forMode: .default)
                serve(loop, once: source)
            }
            #expect(reported == [.writable, .readable])
        }
    }

    @Test func `a handler that leaves something is called again in each pass`() throws {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            wire.send(3)
            var passes: [Int] = []
            let source = DescriptorSource(wire.near, interest: .read) { _, _ in
                passes.append(loop.statistics.passes)
                if passes.count == 5 { loop.stop() }
            }
            try loop.add(source, forMode: .default)
            let first = loop.statistics.passes + 1
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            #expect(passes == Array(first..<first + 5))
        }
    }

    @Test func `an edge-triggered handler is called once for what came, and anew for what comes`() throws {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            wire.send(3)
            var calls = 0
            let source = DescriptorSource(wire.near, interest: .read, trigger: .edge) { _, _ in calls += 1 }
            try loop.add(source, forMode: .default)
            for _ in 0..<5 { loop.run(until: .now) }
            #expect(calls == 1)
            // The bytes are unread, but these ones are new.
            wire.send()
            for _ in 0..<5 { loop.run(until: .now) }
            #expect(calls == 2)
        }
    }

    @Test func `an edge that comes while the handler runs is not lost`() throws {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            wire.send()
            var read: [Int] = []
            let source = DescriptorSource(wire.near, interest: .read, trigger: .edge) { _, _ in
                read.append(wire.drain())
                if read.count > 1 { return }
                wire.send(2)
                // This run notices the edge, and is not allowed to call the handler.
                loop.run(until: .now)
            }
            try loop.add(source, forMode: .default)
            for _ in 0..<3 { loop.run(until: .now) }
            #expect(read == [1, 2])
        }
    }
}

/// Runs the loop until a source is served, in a pass of its own.
private func serve(_ loop: RunLoop, once source: DescriptorSource) {
    #expect(source.isValid)
    #expect(loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
}
