import Foundation
import RunLoops
import RunLoopsTesting
import TestSupport
import Testing

@testable import Inspection

/// The trace of a simulation, which is the same on every machine: a different trace means that the behaviour has changed.
@Suite(.disabled(if: ForcedRecording.isOn)) struct GoldenTraceTests {
    private static func bytes(seed: UInt64, _ format: TraceFormat) throws -> [UInt8] {
        try RunLoopSimulation.run(seed: seed) { simulation in
            let recorder = try FlightRecorder(keeping: .seconds(86_400), detail: .everything)
            defer { recorder.stop() }
            let threads = try ["left", "right"].map { try RunLoopThread(name: $0) }
            @Sendable func bounce(_ count: Int, to index: Int) {
                threads[index].runLoop.perform { if count > 0 { bounce(count - 1, to: 1 - index) } }
            }
            bounce(6, to: 0)
            Timer.scheduledTimer(withTimeInterval: .seconds(60), repeats: true) { _ in recorder.mark("tick") }
            simulation.advance(by: .seconds(200))
            return recorder.snapshot().bytes(as: format)
        }
    }

    private static func trace(seed: UInt64) throws -> String {
        String(decoding: try bytes(seed: seed, .chromeJSON), as: UTF8.self)
            .replacing("\"pid\":\(ProcessFile.processID)", with: "\"pid\":1")
            .replacing("\"\(ProcessFile.programName)\"", with: "\"simulation\"")
            // The line numbers of the library's own blocks can change.
            .replacing(/(RunLoops[A-Za-z]*\/[A-Za-z+.]+):[0-9]+/) { "\($0.1)" }
    }

    // Guarantees: One seed of a simulation gives one trace, byte by byte.
    @Test(arguments: TraceFormat.allCases)
    func `one seed gives one trace, byte by byte`(format: TraceFormat) throws {
        for seed in 0..<5 as Range<UInt64> {
            let bytes = try GoldenTraceTests.bytes(seed: seed, format)
            #expect(try GoldenTraceTests.bytes(seed: seed, format) == bytes)
            // The picture of a seed has all threads of its simulation.
            let text = String(decoding: bytes, as: UTF8.self)
            for name in ["simulation", "left", "right"] { #expect(text.contains(name)) }
        }
    }

    @Test func `the trace of a seed is the one that is kept`() throws {
        let path = "Tests/InspectionTests/Golden/trace-3.json"
        let trace = try GoldenTraceTests.trace(seed: 3)
        if ProcessInfo.processInfo.environment["RUNLOOPS_WRITE_GOLDEN"] != nil {
            try trace.write(toFile: path, atomically: true, encoding: .utf8)
        }
        #expect(try trace == Documentation.text(of: path), "RUNLOOPS_WRITE_GOLDEN=1 keeps the new one")
    }
}
