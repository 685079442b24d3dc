import TestSupport
import Testing

@testable import RunLoops

/// Runs of the loop inside the handlers of descriptor sources.
@Suite struct DescriptorSourceNestingTests {
    private let custom = RunLoop.Mode("custom")

    // Guarantees: While a handler runs, a run inside it does not call it again.
    @Test func `a run inside the handler of an unread descriptor neither calls it nor spins`() throws {
        try onLoopThread { [custom] loop in
            for inner in [RunLoop.Mode.default, custom] {
                let wire = try Wire.pipe()
                defer { wire.close() }
                wire.send()
                var depth = 0
                var calls = 0
                let source = DescriptorSource(wire.near, interest: .read) { source, _ in
                    calls += 1
                    depth += 1
                    #expect(depth == 1)
                    let passes = loop.statistics.passes
                    #expect(loop.run(in: inner, until: .now + .milliseconds(20)) == .timedOut)
                    // One pass notices the descriptor, and one sleeps. The kernel can cause some others.
                    #expect(loop.statistics.passes - passes < 20)
                    depth -= 1
                    if calls == 2 { source.invalidate() }
                }
                try loop.add(source, forMode: .default)
                try loop.add(source, forMode: custom)
                // The descriptor is still unread, so the handler is called again after it has returned.
                #expect(loop.run(in: .default, until: .hang) == .finished)
                #expect(calls == 2)
            }
        }
    }

    @Test func `a run inside a handler serves other descriptors, also those ready in the same pass`() throws {
        try onLoopThread { loop in
            let wires = [try Wire.pipe(), try Wire.pipe()]
            defer { for wire in wires { wire.close() } }
            var order: [String] = []
            for (number, wire) in wires.enumerated() {
                wire.send()
                let source = DescriptorSource(wire.near, interest: .read) { source, _ in
                    order.append("\(number) begins")
                    wire.drain()
                    source.invalidate()
                    loop.run(until: .now)
                    order.append("\(number) ends")
                }
                try loop.add(source, forMode: .default)
            }
            #expect(loop.run(in: .default, until: .hang) == .finished)
            let inner = order.dropFirst().dropLast()
            #expect(order.count == 4)
            #expect(order[0].first == order[3].first)
            #expect(inner.first?.hasSuffix("begins") == true)
        }
    }

    @Test func `a run inside a handler, in another mode, keeps what is ready for the outer one`() throws {
        for trigger in [DescriptorSource.Trigger.level, .edge] {
            try onLoopThread { [custom] loop in
                let wires = [try Wire.pipe(), try Wire.pipe()]
                defer { for wire in wires { wire.close() } }
                var modes: [RunLoop.Mode?] = []
                for wire in wires {
                    wire.send()
                    let source = DescriptorSource(wire.near, interest: .read, trigger: trigger) { source, _ in
                        modes.append(loop.currentMode)
                        source.invalidate()
                        loop.perform(inModes: [custom]) {}
                        #expect(loop.run(in: custom, until: .hang) == .finished)
                    }
                    try loop.add(source, forMode: .default)
                }
                #expect(loop.run(in: .default, until: .hang) == .finished)
                #expect(modes == [.default, .default])
            }
        }
    }

    @Test func `a run inside a handler finds what the same step has already passed by`() throws {
        for trigger in [DescriptorSource.Trigger.level, .edge] {
            try onLoopThread { [custom] loop in
                let wires = try (0..<3).map { _ in try Wire.pipe() }
                defer { for wire in wires { wire.close() } }
                for wire in wires { wire.send() }
                var calls: [Int] = []
                var sources: [DescriptorSource] = []
                for (number, wire) in wires.enumerated() {
                    let source = DescriptorSource(wire.near, interest: .read, trigger: trigger) { source, _ in
                        calls.append(number)
                        wire.drain()
                        // The first of these two handlers removes the second source from the mode, and the last one runs the loop
                        // in the other mode.
                        if number != 1 && calls.count == 1 { loop.remove(sources[1], forMode: .default) }
                        if number != 1 && calls.count == 2 {
                            let passes = loop.statistics.passes
                            #expect(
                                loop.run(in: custom, until: .hang, returnAfterSourceHandled: true)
                                    == .handledSource)
                            #expect(loop.statistics.passes - passes < 20)
                        }
                        source.invalidate()
                    }
                    sources.append(source)
                }
                for source in sources { try loop.add(source, forMode: .default) }
                try loop.add(sources[1], forMode: custom)
                // The descriptors become ready in this order, with the second one between the others.
                loop.run(in: .default, until: .now)
                #expect(calls == [0, 2, 1])
            }
        }
    }

    @Test func `a descriptor that an inner run leaves ready keeps only runs in its modes awake`() throws {
        try onLoopThread { [custom] loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            let descriptors = loop.core("test", "test").descriptors
            var calls = 0
            let source = DescriptorSource(wire.near, interest: .read) { _, _ in
                calls += 1
                wire.drain()
            }
            try loop.add(source, forMode: .default)
            try loop.add(source, forMode: custom)
            wire.send()
            // The timer fires after the kernel has reported the descriptor, and before the descriptor's handler is called.
            let timer = Timer(fireAt: .now, interval: .zero, repeats: false) { _ in
                #expect(descriptors.holdsReady)
                loop.remove(source, forMode: custom)
                #expect(!descriptors.holdsReady)
            }
            loop.add(timer, forMode: custom)
            let observer = RunLoop.Observer(activities: .beforeSources, repeats: false) { _, _ in
                loop.run(in: custom, until: .now)
                #expect(calls == 0 && descriptors.holdsReady)
            }
            loop.add(observer, forMode: .default)
            #expect(loop.run(mode: .default, before: .hang))
            #expect(calls == 1 && !descriptors.holdsReady)
        }
    }
}
