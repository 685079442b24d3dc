import RunLoops
import TestSupport
import Testing

/// Runs inside handlers.
@Suite struct NestedRunTests {
    /// The handler that runs the loop.
    enum Caller: CaseIterable {
        case block, timer, port, signalPort, descriptor, manualSource, observer
    }

    private static let modes = [RunLoop.Mode.default, RunLoop.Mode("inner")]

    /// Arranges a call of one kind of handler in the default mode; a timer, descriptor or observer is ready again during the call.
    private func call(
        _ caller: Caller, on loop: RunLoop, _ pipe: Wire, _ body: @escaping @Sendable () -> Void
    ) throws {
        switch caller {
        case .block: loop.perform(body)
        case .timer:
            let timer = Timer(fireAt: .now, interval: .zero, repeats: true) { timer in
                timer.fireDate = .now
                body()
                timer.invalidate()
            }
            loop.add(timer, forMode: .common)
        case .port:
            let port = Port<Int>()
            loop.add(port, forMode: .common) { _ in body() }
            try port.send(1)
        case .signalPort:
            let port = Port<Void>()
            loop.add(port, forMode: .common) { body() }
            try port.send()
        case .descriptor:
            // The descriptor stays readable.
            pipe.send()
            let source = DescriptorSource(pipe.near, interest: .read) { source, _ in
                body()
                source.invalidate()
            }
            try loop.add(source, forMode: .common)
        case .manualSource:
            let source = ManualSource { body() }
            loop.add(source, forMode: .common)
            source.signal()
        case .observer:
            let observer = RunLoop.Observer(activities: [.beforeTimers, .beforeSources]) { observer, _ in
                body()
                observer.invalidate()
            }
            loop.add(observer, forMode: .common)
        }
    }

    // Guarantees: Every handler of a loop runs on the loop's thread, and never while another one runs, except inside a run that the
    // other one makes.
    @Test(arguments: Caller.allCases, modes) func `a handler may run the loop, which serves the rest`(
        caller: Caller, mode: RunLoop.Mode
    ) throws {
        try onLoopThread { loop in
            loop.addCommonMode(mode)
            let log = Log<String>()
            let pipe = try Wire.pipe()
            defer { pipe.close() }
            let innerPipe = try Wire.pipe()
            defer { innerPipe.close() }
            let depth = Log<Int>()
            try call(caller, on: loop, pipe) {
                depth.add(1)
                #expect(loop.currentMode == .default)
                log.add("outer")
                loop.perform { log.add("block") }
                let timer = Timer(fireAt: .distantPast, interval: .zero, repeats: false) { _ in
                    log.add("timer")
                }
                loop.add(timer, forMode: mode)
                let port = Port<Int>()
                loop.add(port, forMode: mode) { _ in log.add("port") }
                let source = ManualSource { log.add("source") }
                loop.add(source, forMode: mode)
                innerPipe.send()
                let descriptor = DescriptorSource(innerPipe.near, interest: .read) { _, _ in
                    innerPipe.drain()
                    log.add("descriptor")
                    #expect(loop.currentMode == mode)
                }
                #expect(throws: Never.self) {
                    try port.send(1)
                    try loop.add(descriptor, forMode: mode)
                }
                source.signal()
                #expect(loop.run(in: mode, until: .distantPast) == .timedOut)
                #expect(loop.currentMode == .default)
                log.add("back")
                for mode in Set([mode, .default]) {
                    loop.remove(port, forMode: mode)
                    loop.remove(source, forMode: mode)
                    loop.remove(descriptor, forMode: mode)
                }
            }
            loop.add(Port<Int>(), forMode: .default) { _ in }
            loop.run(until: .distantPast)
            #expect(log.entries == ["outer", "block", "source", "timer", "descriptor", "port", "back"])
            #expect(depth.entries.count == 1)
        }
    }

    @Test(arguments: Caller.allCases) func `a stop inside ends the inner run, and the outer one goes on`(
        caller: Caller
    ) throws {
        try onLoopThread { loop in
            let log = Log<RunLoop.RunResult>()
            let pipe = try Wire.pipe()
            defer { pipe.close() }
            loop.add(Port<Int>(), forMode: .default) { _ in }
            try call(caller, on: loop, pipe) {
                loop.perform { loop.stop() }
                log.add(loop.run(in: .default))
            }
            log.add(loop.run(in: .default, until: .now + .milliseconds(2)))
            #expect(log.entries == [.stopped, .timedOut])
        }
    }

    @Test func `runs go as deep as handlers ask for`() throws {
        try onLoopThread { loop in
            let log = Log<Int>()
            @Sendable func dive(_ depth: Int) {
                log.add(depth)
                if depth < 50 {
                    loop.perform { dive(depth + 1) }
                    loop.run(in: .default)
                }
                log.add(-depth)
            }
            loop.perform { dive(1) }
            loop.run()
            #expect(log.entries == Array(1...50) + (1...50).reversed().map { -$0 })
        }
    }

    @Test func `a run inside a port's handler delivers the next messages, in order and each once`() throws {
        try onLoopThread { loop in
            let log = Log<Int>()
            let port = Port<Int>()
            loop.add(port, forMode: .default) { number in
                log.add(number)
                if number % 2 == 0 { loop.run(until: .distantPast) }
                log.add(-number)
            }
            try port.send(contentsOf: 1...5)
            loop.run(until: .distantPast)
            #expect(log.entries == [1, -1, 2, 3, -3, 4, 5, -5, -4, -2])
        }
    }

    @Test func `a run inside a block performs the next blocks, in order and each once`() throws {
        try onLoopThread { loop in
            let log = Log<Int>()
            for number in 1...4 {
                loop.perform {
                    log.add(number)
                    if number == 2 { loop.run(until: .distantPast) }
                    log.add(-number)
                }
            }
            loop.run()
            #expect(log.entries == [1, -1, 2, 3, -3, 4, -4, -2])
        }
    }

    @Test func `a manual source that is signalled in its handler is called again when it has returned`()
        throws
    {
        try onLoopThread { loop in
            let log = Log<String>()
            let again = Port<ManualSource>()
            loop.add(again, forMode: .default) { $0.signal() }
            let source = ManualSource {
                log.add("in")
                // The first of these runs delivers the port's message, whose handler signals the source.
                if log.entries.count == 1 { for _ in 0..<3 { loop.run(until: .distantPast) } }
                log.add("out")
            }
            loop.add(source, forMode: .default)
            source.signal()
            try again.send(source)
            while log.entries.count < 4 { loop.run(mode: .default, before: .distantFuture) }
            #expect(log.entries == ["in", "out", "in", "out"])
        }
    }

    @Test func `what is ready in the outer mode only waits for the inner run to end`() throws {
        try onLoopThread { loop in
            let inner = RunLoop.Mode("inner")
            let log = Log<String>()
            let pipe = try Wire.pipe()
            defer { pipe.close() }
            let port = Port<Int>()
            loop.add(port, forMode: .default) { _ in log.add("port") }
            let source = ManualSource { log.add("source") }
            loop.add(source, forMode: .default)
            let descriptor = DescriptorSource(pipe.near, interest: .read) { _, _ in
                pipe.drain()
                log.add("descriptor")
            }
            try loop.add(descriptor, forMode: .default)
            loop.add(Port<Int>(), forMode: inner) { _ in }
            loop.perform {
                let timer = Timer(fireAt: .now, interval: .zero, repeats: false) { _ in log.add("timer") }
                loop.add(timer, forMode: .default)
                pipe.send()
                source.signal()
                loop.perform(inModes: [.default]) { log.add("block") }
                try? port.send(1)
                for _ in 0..<3 { loop.run(in: inner, until: .distantPast) }
                log.add("inner run has ended")
            }
            while log.entries.count < 6 { loop.run(mode: .default, before: .distantFuture) }
            #expect(log.entries.first == "inner run has ended")
            #expect(Set(log.entries.dropFirst()) == ["port", "source", "descriptor", "timer", "block"])
        }
    }

    @Test func `the current mode is that of the innermost run`() throws {
        try onLoopThread { loop in
            let inner = RunLoop.Mode("inner")
            let log = Log<RunLoop.Mode?>()
            loop.perform(inModes: [inner]) { log.add(loop.currentMode) }
            loop.perform {
                log.add(loop.currentMode)
                loop.run(in: inner)
                log.add(loop.currentMode)
            }
            #expect(loop.currentMode == nil)
            loop.run()
            #expect(loop.currentMode == nil)
            #expect(log.entries == [.default, inner, .default])
        }
    }
}
