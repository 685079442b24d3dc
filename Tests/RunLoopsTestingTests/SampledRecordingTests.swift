import RunLoopsTesting
import TestSupport
import Testing

@testable import RunLoops

/// The events that a sampled recording keeps.
///
/// The clock of a simulation stands still while handlers run, so that the limits count exactly.
@Suite(.disabled(if: ForcedRecording.isOn)) struct SampledRecordingTests {
    private static func run<Result>(
        _ body: (RunLoopSimulation, FlightRecorder) throws -> Result
    ) throws -> Result {
        try RunLoopSimulation.run { simulation in
            let recorder = try FlightRecorder(keeping: .seconds(86_400))
            defer { recorder.stop() }
            return try body(simulation, recorder)
        }
    }

    private static func events(
        _ recorder: FlightRecorder, at line: Int, _ isWanted: (FlightRecorder.Event.Kind) -> Bool
    ) -> [FlightRecorder.Event] {
        recorder.snapshot().threads.flatMap(\.events).filter {
            isWanted($0.kind) && $0.place.hasSuffix("SampledRecordingTests.swift:\(line)")
        }
    }

    @Test func `eight handlers of messages in 50 µs are recorded one by one, and every handler of a timer`()
        throws
    {
        try Self.run { simulation, recorder in
            let port = Port<Int>()
            let line = #line - 1
            RunLoop.current.add(port, forMode: .default) { _ in }
            var fires = 0
            for round in 1...3 {
                for number in 0..<100 { try port.send(number) }
                let timerLine = #line + 2
                for _ in 0..<20 {
                    Timer.scheduledTimer(withTimeInterval: .zero, repeats: false) { _ in fires += 1 }
                }
                simulation.settle()
                #expect(Self.events(recorder, at: line) { $0 == .handler(.port) }.count == 8 * round)
                #expect(fires == 20 * round)
                #expect(Self.events(recorder, at: timerLine) { $0 == .handler(.timer) }.count == fires)
                simulation.advance(by: .microseconds(50))
            }
        }
    }

    @Test func `handlers beyond these that take long together are one stretch, whatever is called next`()
        throws
    {
        try Self.run { simulation, recorder in
            let thread = try RunLoopThread(name: "worker")
            let full = Port<Int>(queueLimit: 1)
            try full.send(0)
            let port = Port<Int>()
            let line = #line - 1
            try thread.runLoop.performAndWait {
                // In the next pass, the loop calls an observer before it serves the port.
                RunLoop.current.add(
                    RunLoop.Observer(activities: .beforeTimers) { _, _ in }, forMode: .default)
                RunLoop.current.add(port, forMode: .default) { number in
                    // Only a wait lets the time of a simulation pass. It uses up the time of the pass.
                    if number == 15 { try? full.send(1, before: RunLoop.now + .milliseconds(1)) }
                }
            }
            simulation.advance(by: .microseconds(50))
            for number in 0..<20 { try port.send(number) }
            simulation.advance(by: .milliseconds(1))
            let stretches = Self.events(recorder, at: line) { if case .handlers = $0 { true } else { false } }
            #expect(stretches.map(\.kind) == [.handlers(count: 8)])
            #expect(stretches.map(\.duration) == [.milliseconds(1)])
            // After a stretch, handlers are recorded one by one again.
            #expect(Self.events(recorder, at: line) { $0 == .handler(.port) }.count == 12)
        }
    }

    @Test func `a recorded handler that takes long, and then runs the loop, is no stretch as well`() throws {
        try Self.run { simulation, recorder in
            let thread = try RunLoopThread(name: "worker")
            let full = Port<Int>(queueLimit: 1)
            try full.send(0)
            let inner = RunLoop.Mode("inner")
            let line = #line + 1
            thread.runLoop.perform {
                RunLoop.current.add(Port<Int>(), forMode: inner) { _ in }
                try? full.send(1, before: RunLoop.now + .milliseconds(1))
                RunLoop.current.run(in: inner, until: RunLoop.now + .milliseconds(1))
            }
            simulation.advance(by: .milliseconds(3))
            let events = recorder.snapshot().threads.flatMap(\.events)
            #expect(events.contains { $0.kind == .run(.timedOut) && $0.place == "inner" })
            #expect(Self.events(recorder, at: line) { $0 == .handler(.block) }.count == 1)
            #expect(!events.contains { if case .handlers = $0.kind { true } else { false } })
        }
    }

    @Test func `a handler after one that has run the loop, and goes on, begins when that one ends`() throws {
        try Self.run { simulation, recorder in
            let thread = try RunLoopThread(name: "worker")
            let full = Port<Int>(queueLimit: 1)
            try full.send(0)
            let inner = RunLoop.Mode("inner")
            let port = Port<Int>()
            let line = #line - 1
            try thread.runLoop.performAndWait {
                let loop = RunLoop.current
                loop.add(port, forMode: .default) { number in
                    if number != 8 { return }
                    loop.add(
                        Timer(timeInterval: .microseconds(50), repeats: false) { _ in
                            loop.perform(inModes: [inner]) { loop.stop() }
                        }, forMode: inner)
                    loop.run(in: inner, until: .hang)
                    // Only a wait lets the time of a simulation pass. It does not use up the time of the pass.
                    try? full.send(1, before: RunLoop.now + .microseconds(100))
                }
            }
            simulation.advance(by: .microseconds(50))
            // The ninth handler is not recorded, but the one inside its run is.
            for number in 0..<10 { try port.send(number) }
            simulation.advance(by: .milliseconds(2))
            let calls = Self.events(recorder, at: line) { $0 == .handler(.port) }
            let began = recorder.snapshot().start
            let starts = Array(repeating: Duration.microseconds(50), count: 8) + [.microseconds(200)]
            #expect(calls.map { $0.start - began } == starts)
            #expect(calls.allSatisfy { $0.duration == .zero })
        }
    }

    @Test func `a sender records a message to an idle receiver, and each 256th other, once in 10 µs`() throws
    {
        try Self.run { simulation, recorder in
            let port = Port<Int>()
            let line = #line - 1
            func posts() -> Int { Self.events(recorder, at: line) { $0 == .post(count: 1) }.count }
            // The port is in no loop, so that all messages stay in it.
            for number in 0..<200 { try port.send(number) }
            #expect(posts() == 1)
            simulation.advance(by: .microseconds(9))
            for number in 0..<100 { try port.send(number) }
            #expect(posts() == 1)
            simulation.advance(by: .microseconds(1))
            for number in 0..<212 { try port.send(number) }
            #expect(posts() == 1)
            // 512 messages are in the port.
            try port.send(0)
            #expect(posts() == 2)
            for number in 0..<300 { try port.send(number) }
            #expect(posts() == 2)
        }
    }

    @Test func `a block of the loop's own thread has no wait from an earlier use of its node`() throws {
        try Self.run { simulation, recorder in
            let (worker, other) = (try RunLoopThread(name: "worker"), try RunLoopThread(name: "other"))
            let full = Port<Int>(queueLimit: 1)
            try full.send(0)
            for _ in 0..<7 { worker.runLoop.perform {} }
            // Only a wait lets the time of a simulation pass.
            worker.runLoop.perform { try? full.send(1, before: RunLoop.now + .microseconds(20)) }
            simulation.advance(by: .microseconds(10))
            // The worker's window is full, so it does not record these blocks. One of the second thread's blocks keeps its stamp.
            worker.runLoop.perform {}
            other.runLoop.perform { for _ in 0..<256 { worker.runLoop.perform {} } }
            simulation.advance(by: .microseconds(20))

            // These blocks use the nodes of the second thread again.
            let line = #line + 4
            for _ in 0..<100 {
                simulation.advance(by: .microseconds(50))
                other.runLoop.perform {
                    for _ in 0..<7 { RunLoop.current.perform {} }
                }
                simulation.settle()
            }
            let blocks = Self.events(recorder, at: line) { $0 == .handler(.block) }
            #expect(blocks.count == 700)
            #expect(blocks.allSatisfy { $0.wait == nil && $0.flow == nil })
        }
    }
}
