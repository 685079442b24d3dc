import RunLoops
import TestSupport
import Testing

/// Descriptors and the modes that they are in.
@Suite struct DescriptorSourceModeTests {
    private let custom = RunLoop.Mode("custom")

    // Guarantees: While the loop runs in a mode that a source is not in, the source loses nothing, and its handler is not called.
    @Test func `a descriptor is served in its modes only, and what came meanwhile is kept`() throws {
        for trigger in [DescriptorSource.Trigger.level, .edge] {
            try onLoopThread { [custom] loop in
                let wire = try Wire.pipe()
                defer { wire.close() }
                var modes: [RunLoop.Mode?] = []
                let source = DescriptorSource(wire.near, interest: .read, trigger: trigger) { _, _ in
                    modes.append(loop.currentMode)
                    wire.drain()
                }
                try loop.add(source, forMode: custom)
                #expect(loop.run(in: .default, until: .hang) == .finished)
                loop.run(in: custom, until: .now)
                wire.send()
                loop.perform { wire.send() }
                loop.run(until: .now)
                #expect(modes == [])
                loop.run(in: custom, until: .now)
                #expect(modes == [custom])
                try loop.add(source, forMode: .default)
                wire.send()
                loop.run(until: .now)
                loop.remove(source, forMode: custom)
                wire.send()
                #expect(loop.run(in: custom, until: .hang) == .finished)
                #expect(modes == [custom, .default])
            }
        }
    }

    @Test func `what is ready in another mode does not keep the loop awake`() throws {
        try onLoopThread { [custom] loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            wire.send()
            let source = DescriptorSource(wire.near, interest: .read) { _, _ in Issue.record("not its mode") }
            try loop.add(source, forMode: custom)
            loop.add(Port<Int>(), forMode: .default) { _ in }
            #expect(loop.run(in: .default, until: .now + .milliseconds(10)) == .timedOut)
            // One pass sleeps. The kernel can cause some others.
            #expect(loop.statistics.passes < 20)
        }
    }

    @Test func `a descriptor in the common modes is in those that become common later`() throws {
        try onLoopThread { [custom] loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            var calls = 0
            let source = DescriptorSource(wire.near, interest: .read) { _, _ in calls += 1 }
            try loop.add(source, forMode: .common)
            wire.send()
            loop.run(in: custom, until: .now)
            #expect(calls == 0)
            loop.addCommonMode(custom)
            loop.run(in: custom, until: .now)
            #expect(calls == 1)
            loop.remove(source, forMode: .common)
            #expect(loop.run(in: custom, until: .hang) == .finished)
        }
    }

    @Test func `a mode that becomes common while it runs has its new descriptors at once`() throws {
        try onLoopThread { [custom] loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            wire.send()
            let source = DescriptorSource(wire.near, interest: .read) { _, _ in }
            try loop.add(source, forMode: .common)
            loop.add(Port<Int>(), forMode: custom) { _ in }
            // The kernel now watches the descriptors of the mode, of which there are none.
            loop.run(in: custom, until: .now)
            loop.perform(inModes: [custom]) { loop.addCommonMode(custom) }
            let result = loop.run(
                in: custom, until: .hang, returnAfterSourceHandled: true)
            #expect(result == .handledSource)
        }
    }
}
