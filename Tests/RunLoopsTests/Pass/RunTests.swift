import RunLoops
import TestSupport
import Testing

/// The ends of runs, and their results.
@Suite struct RunTests {
    /// An input that can be in a mode.
    enum Input: CaseIterable {
        case timer, port, signalPort, manualSource, descriptor

        static let sources = [Input.port, .signalPort, .manualSource, .descriptor]
    }

    private let other = RunLoop.Mode("other")

    private func addPort(to loop: RunLoop, _ mode: RunLoop.Mode = .default) {
        loop.add(Port<Int>(), forMode: mode) { _ in }
    }

    private func addTimer(to loop: RunLoop, _ mode: RunLoop.Mode) {
        loop.add(Timer(fireAt: .distantFuture, interval: .zero, repeats: false) { _ in }, forMode: mode)
    }

    /// Adds an input that never becomes ready.
    private func add(_ input: Input, to loop: RunLoop, _ mode: RunLoop.Mode, _ pipe: Wire) throws {
        switch input {
        case .timer: addTimer(to: loop, mode)
        case .port: addPort(to: loop, mode)
        case .signalPort: loop.add(Port<Void>(), forMode: mode) {}
        case .manualSource: loop.add(ManualSource {}, forMode: mode)
        case .descriptor:
            try loop.add(DescriptorSource(pipe.near, interest: .read) { _, _ in }, forMode: mode)
        }
    }

    @Test func `an empty mode ends the run at once, and no observer is called`() throws {
        try onLoopThread { loop in
            let observer = RunLoop.Observer(activities: .all) { _, _ in Issue.record("not called") }
            for mode in [RunLoop.Mode.default, other] {
                #expect(loop.run(in: mode) == .finished)
                loop.add(observer, forMode: mode)
                // Observers do not keep a mode alive.
                #expect(loop.run(in: mode) == .finished)
                #expect(loop.run(in: mode, until: .distantPast) == .finished)
                #expect(!loop.run(mode: mode, before: .distantFuture))
                #expect(loop.limitDate(forMode: mode) == nil)
            }
            loop.run()
            #expect(loop.statistics.passes == 0)
        }
    }

    @Test(arguments: Input.allCases) func `an input keeps its modes alive, and no other`(input: Input) throws
    {
        try onLoopThread { loop in
            let pipe = try Wire.pipe()
            defer { pipe.close() }
            try add(input, to: loop, other, pipe)
            #expect(loop.run(in: other, until: .now + .milliseconds(1)) == .timedOut)
            #expect(loop.run(in: .default) == .finished)
        }
    }

    @Test func `a block that waits keeps its modes alive until it has run`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            loop.perform(inModes: [other]) { log.add("other") }
            #expect(loop.run(in: .default) == .finished)
            #expect(log.entries == [])
            #expect(loop.run(in: other, until: .hang) == .finished)
            #expect(log.entries == ["other"])
            loop.perform { log.add("common") }
            #expect(loop.run(in: other) == .finished)
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(log.entries == ["other", "common"])
        }
    }

    @Test func `a run ends when the last input has left`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            let source = ManualSource {}
            loop.add(port, forMode: .default) { _ in
                loop.remove(source, forMode: .default)
                loop.remove(port, forMode: .default)
            }
            loop.add(source, forMode: .default)
            try port.send(1)
            #expect(loop.run(in: .default) == .finished)
        }
    }

    @Test func `a deadline that has passed makes one pass, in which due timers fire`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            let timer = Timer(fireAt: .now, interval: .zero, repeats: true) { _ in log.add("timer") }
            loop.add(timer, forMode: .default)
            loop.perform { log.add("block") }
            loop.run(until: .now - .seconds(1))
            #expect(log.entries == ["block", "timer"])
            #expect(loop.statistics.passes == 1)
        }
    }

    @Test func `a run does not end before its deadline, and fires what is due at it`() throws {
        try onLoopThread { loop in
            let deadline = ContinuousClock.now + .milliseconds(20)
            var fired = false
            addPort(to: loop)
            loop.add(
                Timer(fireAt: deadline, interval: .zero, repeats: false) { _ in fired = true },
                forMode: .default)
            #expect(loop.run(in: .default, until: deadline) == .timedOut)
            #expect(ContinuousClock.now >= deadline)
            #expect(fired)
        }
    }

    @Test(arguments: Input.sources) func `a source or port that was served ends a run that waits for one`(
        input: Input
    ) throws {
        try onLoopThread { loop in
            let log = Log<Input>()
            let pipe = try Wire.pipe()
            defer { pipe.close() }
            switch input {
            case .port:
                let port = Port<Int>()
                try port.send(1)
                loop.add(port, forMode: .default) { _ in log.add(.port) }
            case .signalPort:
                let port = Port<Void>()
                try port.send()
                loop.add(port, forMode: .default) { log.add(.signalPort) }
            case .manualSource:
                let source = ManualSource { log.add(.manualSource) }
                source.signal()
                loop.add(source, forMode: .default)
            case .descriptor:
                pipe.send()
                let source = DescriptorSource(pipe.near, interest: .read) { source, _ in
                    log.add(.descriptor)
                    source.invalidate()
                }
                try loop.add(source, forMode: .default)
            case .timer: Issue.record("timers do not end a run")
            }
            addTimer(to: loop, .default)
            #expect(loop.run(mode: .default, before: .distantFuture))
            #expect(log.entries == [input])
        }
    }

    @Test func `timers, blocks and wake-ups do not end a run that waits for a source`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            let source = ManualSource { log.add("source") }
            let timer = Timer(timeInterval: .zero, repeats: true) { timer in
                log.add("timer")
                loop.wakeUp()
                if log.entries.count == 4 {
                    timer.invalidate()
                    source.signal()
                }
            }
            loop.add(timer, forMode: .default)
            loop.add(source, forMode: .default)
            loop.perform { log.add("block") }
            #expect(
                loop.run(in: .default, until: .distantFuture, returnAfterSourceHandled: true)
                    == .handledSource)
            #expect(log.entries == ["block", "timer", "timer", "timer", "source"])
        }
    }

    @Test func `a run that waits for a source says true if only its deadline passed`() throws {
        try onLoopThread { loop in
            addPort(to: loop)
            let deadline = ContinuousClock.now + .milliseconds(2)
            #expect(loop.run(mode: .default, before: deadline))
            #expect(ContinuousClock.now >= deadline)
        }
    }

    @Test func `a run that waits for a source says true if its mode was emptied meanwhile, and then false`()
        throws
    {
        try onLoopThread { loop in
            let port = Port<Int>()
            loop.add(port, forMode: .default) { _ in }
            loop.perform { [other] in
                loop.remove(port, forMode: .default)
                #expect(!loop.run(mode: other, before: .distantFuture))
            }
            #expect(loop.run(mode: .default, before: .distantFuture))
            #expect(!loop.run(mode: .default, before: .distantFuture))
            loop.add(Timer(fireAt: .now, interval: .zero, repeats: false) { _ in }, forMode: .default)
            #expect(loop.run(mode: .default, before: .distantFuture))
            #expect(!loop.run(mode: .default, before: .distantFuture))
        }
    }

    @Test func `a run before a deadline returns after the first source of its mode`() throws {
        try onLoopThread { loop in
            let log = Log<Int>()
            let port = Port<Int>()
            loop.add(port, forMode: other) { log.add($0) }
            loop.run(mode: .default, before: .distantFuture)
            try port.send(1)
            loop.run(mode: other, before: .distantFuture)
            #expect(log.entries == [1])
        }
    }

    // Guarantees: The order of the exit reasons.
    @Test func `of several reasons to end, a source comes first, then the deadline, then the stop`() throws {
        try onLoopThread { loop in
            let source = ManualSource { loop.stop() }
            loop.add(source, forMode: .default)
            source.signal()
            #expect(
                loop.run(in: .default, until: .distantPast, returnAfterSourceHandled: true) == .handledSource)
        }
        try onLoopThread { loop in
            loop.perform { loop.stop() }
            #expect(loop.run(in: .default, until: .distantPast) == .timedOut)
        }
        try onLoopThread { loop in
            loop.perform { loop.stop() }
            #expect(loop.run(in: .default) == .stopped)
        }
        try onLoopThread { loop in
            loop.perform {}
            #expect(loop.run(in: .default, until: .distantPast) == .timedOut)
        }
    }

    @Test func `the limit date is that of the next timer, after a pass in which due ones fire`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            #expect(loop.limitDate(forMode: .default) == nil)
            addPort(to: loop)
            #expect(loop.limitDate(forMode: .default) == .distantFuture)
            let date = ContinuousClock.now + .seconds(200)
            for date in [date + .seconds(1), date, .now] {
                let timer = Timer(fireAt: date, interval: .zero, repeats: false) { _ in log.add("timer") }
                loop.add(timer, forMode: .default)
            }
            addTimer(to: loop, other)
            #expect(loop.limitDate(forMode: .default) == date)
            #expect(log.entries == ["timer"])
            #expect(loop.limitDate(forMode: other) == .distantFuture)
        }
    }

    @Test func `the limit date is not nil while a block waits`() throws {
        try onLoopThread { loop in
            let log = Log<Int>()
            @Sendable func again(_ number: Int) {
                log.add(number)
                if number < 5 { loop.perform { again(number + 1) } }
            }
            loop.perform { again(1) }
            #expect(loop.limitDate(forMode: .default) == .distantFuture)
            loop.run()
            #expect(loop.limitDate(forMode: .default) == nil)
            #expect(log.entries == [1, 2, 3, 4, 5])
        }
    }

    @Test func `the limit date is nil if the last timer fired in the pass`() throws {
        try onLoopThread { loop in
            loop.add(Timer(fireAt: .now, interval: .zero, repeats: false) { _ in }, forMode: .default)
            #expect(loop.limitDate(forMode: .default) == nil)
        }
    }
}
