import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The times at which the handlers of messages begin and end in a recording.
@Suite(.disabled(if: ForcedRecording.isOn)) struct RecordedBeginningTests {
    private static func end(_ event: FlightRecorder.Event) -> ContinuousClock.Instant {
        event.start + (event.duration ?? .zero)
    }

    @Test
    func `a handler begins when the one of the message before has ended, but the first one of a step later`()
        throws
    {
        try RecordedRun.run { recorder in
            try onLoopThread { loop in
                let port = Port<Int>()
                loop.add(port, forMode: .default) { _ in }
                let source = ManualSource {
                    for _ in 0..<3 { loop.perform {} }
                    for number in 0..<3 { try? port.send(number) }
                }
                loop.add(source, forMode: .default)
                source.signal()
                loop.settle()
            }
            let events = try recorder.snapshot().thread("test").events
            let source = try #require(events.first { $0.kind == .handler(.manualSource) })
            for kind in [RunLoop.HandlerKind.block, .port] {
                let calls = events.filter { $0.kind == .handler(kind) && $0.start > source.start }
                try #require(calls.count == 3)
                // The ticks of two readings of the clock differ by more than a nanosecond.
                let before = events.filter { Self.end($0) <= calls[0].start }
                #expect(before.allSatisfy { Self.end($0) < calls[0].start })
                for (one, next) in zip(calls, calls.dropFirst()) { #expect(next.start == Self.end(one)) }
            }
        }
    }

    @Test func `what a block holds is released as a part of its call`() throws {
        final class Held: Sendable {
            let recorder: FlightRecorder
            init(_ recorder: FlightRecorder) { self.recorder = recorder }
            deinit { recorder.mark("released") }
        }
        try RecordedRun.run { recorder in
            let thread = try RunLoopThread(name: "holder")
            let isOnlyHolder = Gate()
            let line = #line + 3
            func give() {
                let held = Held(recorder)
                thread.runLoop.perform { withExtendedLifetime(held) { _ = isOnlyHolder.wait() } }
            }
            give()
            isOnlyHolder.open()
            thread.runLoop.perform { thread.stop() }
            thread.join()
            let events = try recorder.snapshot().thread("holder").events
            let mark = try #require(events.first { $0.kind == .mark && $0.place == "released" })
            let call = try #require(events.first { $0.place.hasSuffix("BeginningTests.swift:\(line)") })
            #expect(mark.depth == call.depth + 1)
            #expect(mark.start >= call.start && mark.start <= Self.end(call))
        }
    }
}
