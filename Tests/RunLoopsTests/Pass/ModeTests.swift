import RunLoops
import TestSupport
import Testing

/// The inputs of each mode.
@Suite struct ModeTests {
    /// An input that can be added to a mode.
    enum Kind: CaseIterable {
        case timer, port, signalPort, manualSource, descriptor, observer
    }

    /// One input of each kind, and a log of the inputs that were served.
    private struct Inputs {
        let served: Log<Kind>
        let pipe: Wire
        let timer: Timer
        let port = Port<Int>()
        let signalPort = Port<Void>()
        let manualSource: ManualSource
        let descriptor: DescriptorSource
        let observer: RunLoop.Observer

        init() throws {
            let served = Log<Kind>()
            let pipe = try Wire.pipe()
            self.served = served
            self.pipe = pipe
            timer = Timer(fireAt: .now, interval: .seconds(100), repeats: true) { _ in served.add(.timer) }
            manualSource = ManualSource { served.add(.manualSource) }
            descriptor = DescriptorSource(pipe.near, interest: .read) { _, _ in
                pipe.drain()
                served.add(.descriptor)
            }
            observer = RunLoop.Observer(activities: .beforeTimers) { _, _ in served.add(.observer) }
        }

        func close() { pipe.close() }

        func add(to loop: RunLoop, _ mode: RunLoop.Mode) throws {
            let served = self.served
            loop.add(timer, forMode: mode)
            loop.add(port, forMode: mode) { _ in served.add(.port) }
            loop.add(signalPort, forMode: mode) { served.add(.signalPort) }
            loop.add(manualSource, forMode: mode)
            try loop.add(descriptor, forMode: mode)
            loop.add(observer, forMode: mode)
        }

        func remove(from loop: RunLoop, _ mode: RunLoop.Mode) {
            loop.remove(timer, forMode: mode)
            loop.remove(port, forMode: mode)
            loop.remove(signalPort, forMode: mode)
            loop.remove(manualSource, forMode: mode)
            loop.remove(descriptor, forMode: mode)
            loop.remove(observer, forMode: mode)
        }

        /// Makes each input ready once, and returns the inputs that a pass in the mode has served.
        func servedByPass(of loop: RunLoop, in mode: RunLoop.Mode) throws -> Set<Kind> {
            timer.fireDate = .now
            try port.send(1)
            try signalPort.send()
            manualSource.signal()
            pipe.send()
            let before = served.entries.count
            loop.run(in: mode, until: .distantPast)
            let new = served.entries.dropFirst(before)
            #expect(Set(new).count == new.count, "each once")
            return Set(new)
        }
    }

    private let other = RunLoop.Mode("other")
    private let all = Set(Kind.allCases)

    /// Keeps modes alive, so that a run in them makes a pass.
    private func park(_ loop: RunLoop, _ modes: RunLoop.Mode...) {
        for mode in modes { loop.add(Port<Int>(), forMode: mode) { _ in } }
    }

    // Guarantees: Raw values of modes, activities and run results stay those of Core Foundation.
    @Test func `modes are their names, and those of Foundation`() {
        #expect(RunLoop.Mode("x") == RunLoop.Mode(rawValue: "x"))
        #expect(RunLoop.Mode.default.rawValue == "kCFRunLoopDefaultMode")
        #expect(RunLoop.Mode.common.rawValue == "kCFRunLoopCommonModes")
        #expect("\(RunLoop.Mode("x"))" == "x")
    }

    @Test func `what is in another mode waits, and is not lost`() throws {
        try onLoopThread { loop in
            let inputs = try Inputs()
            defer { inputs.close() }
            try inputs.add(to: loop, other)
            park(loop, .default)
            #expect(try inputs.servedByPass(of: loop, in: .default) == [])
            loop.run(in: .default, until: .now + .milliseconds(1))
            #expect(inputs.served.entries == [])
            loop.run(in: other, until: .distantPast)
            #expect(Set(inputs.served.entries) == all)
        }
    }

    @Test func `at first the default mode alone is common`() throws {
        try onLoopThread { loop in
            let inputs = try Inputs()
            defer { inputs.close() }
            try inputs.add(to: loop, .common)
            park(loop, other)
            #expect(try inputs.servedByPass(of: loop, in: other) == [])
            loop.run(until: .distantPast)
            #expect(Set(inputs.served.entries) == all)
        }
    }

    @Test func `what is common is in the modes that become common later too`() throws {
        try onLoopThread { loop in
            let early = try Inputs()
            defer { early.close() }
            let late = try Inputs()
            defer { late.close() }
            try early.add(to: loop, .common)
            loop.addCommonMode(other)
            loop.addCommonMode(other)
            try late.add(to: loop, .common)
            for mode in [other, .default, other] {
                #expect(try early.servedByPass(of: loop, in: mode) == all)
                #expect(try late.servedByPass(of: loop, in: mode) == all)
            }
        }
    }

    @Test func `blocks for the common modes run in a mode as soon as it is common`() throws {
        try onLoopThread { loop in
            let log = Log<Int>()
            park(loop, other)
            loop.perform { log.add(1) }
            loop.perform(inModes: [.common]) { log.add(2) }
            loop.perform(inModes: [other]) { loop.addCommonMode(RunLoop.Mode("other")) }
            while log.entries.count < 2 { loop.run(in: other, until: .distantPast) }
            #expect(log.entries == [1, 2])
        }
    }

    @Test func `a mode that becomes common while it runs serves what is common at once`() throws {
        try onLoopThread { loop in
            let inputs = try Inputs()
            defer { inputs.close() }
            try inputs.add(to: loop, .common)
            park(loop, other)
            #expect(try inputs.servedByPass(of: loop, in: other) == [])
            let served = inputs.served
            loop.add(
                Timer(timeInterval: .milliseconds(1), repeats: true) { [all] _ in
                    if Set(served.entries) == all { loop.stop() }
                }, forMode: other)
            loop.perform(inModes: [other]) { loop.addCommonMode(RunLoop.Mode("other")) }
            #expect(loop.run(in: other, until: .hang) == .stopped)
        }
    }

    @Test func `a mode that becomes common in an inner run is common for the outer one`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            park(loop, other, .default)
            loop.perform(inModes: [other]) {
                loop.perform(inModes: [.default]) { loop.addCommonMode(RunLoop.Mode("other")) }
                loop.run(until: .distantPast)
                loop.perform { log.add("common") }
            }
            loop.run(in: other, until: .distantPast)
            #expect(log.entries == ["common"])
        }
    }

    @Test func `removing from the common modes removes from each of them, and from later ones`() throws {
        try onLoopThread { loop in
            let inputs = try Inputs()
            defer { inputs.close() }
            let third = RunLoop.Mode("third")
            loop.addCommonMode(other)
            try inputs.add(to: loop, .common)
            park(loop, other, .default, third)
            inputs.remove(from: loop, .common)
            loop.addCommonMode(third)
            for mode in [RunLoop.Mode.default, other, third] {
                #expect(try inputs.servedByPass(of: loop, in: mode) == [])
            }
        }
    }

    @Test func `removing from one mode leaves the others`() throws {
        try onLoopThread { loop in
            let inputs = try Inputs()
            defer { inputs.close() }
            loop.addCommonMode(other)
            try inputs.add(to: loop, .common)
            park(loop, other)
            inputs.remove(from: loop, other)
            #expect(try inputs.servedByPass(of: loop, in: other) == [])
            loop.run(until: .distantPast)
            #expect(try inputs.servedByPass(of: loop, in: .default) == all)
        }
    }

    @Test func `adding twice is as adding once`() throws {
        try onLoopThread { loop in
            let inputs = try Inputs()
            defer { inputs.close() }
            for mode in [RunLoop.Mode.default, .default, .common, .default] { try inputs.add(to: loop, mode) }
            park(loop, .default)
            #expect(try inputs.servedByPass(of: loop, in: .default) == all)
            inputs.remove(from: loop, .default)
            #expect(try inputs.servedByPass(of: loop, in: .default) == [])
        }
    }

    @Test func `removing what is not there is harmless`() throws {
        try onLoopThread { loop in
            let inputs = try Inputs()
            defer { inputs.close() }
            inputs.remove(from: loop, .default)
            inputs.remove(from: loop, .common)
            try inputs.add(to: loop, .default)
            inputs.remove(from: loop, other)
            #expect(try inputs.servedByPass(of: loop, in: .default) == all)
        }
    }

    // Guarantees: After an input was removed from its last mode on the loop's thread, no handler of the input starts.
    @Test func `after removal by a handler of the same pass, no handler starts`() throws {
        try onLoopThread { loop in
            let inputs = try Inputs()
            defer { inputs.close() }
            try inputs.add(to: loop, .default)
            park(loop, .default)
            loop.remove(inputs.observer, forMode: .default)
            // The timer fires after the loop has checked the kernel and its mail, and before the other inputs are served.
            let first = Timer(fireAt: .now - .seconds(1), interval: .zero, repeats: false) { _ in
                inputs.remove(from: loop, .default)
            }
            loop.add(first, forMode: .default)
            #expect(try inputs.servedByPass(of: loop, in: .default) == [.manualSource])
            #expect(try inputs.servedByPass(of: loop, in: .default) == [])
        }
    }
}
