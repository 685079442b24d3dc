import Notifications
import RunLoopsTesting
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Recordings of simulations have the simulation's clock, and are equal for equal seeds.
@Suite(.disabled(if: ForcedRecording.isOn)) struct SimulatedRecordingTests {
    /// Records two workers that answer each other while a timer ticks, and returns a line for each event.
    private static func trace(seed: UInt64) throws -> [String] {
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
            let snapshot = recorder.snapshot()
            return snapshot.threads.flatMap { thread in
                thread.events.map { event in
                    let wait = event.wait.map { ", waited \($0)" } ?? ""
                    return
                        "\(thread.number) \(thread.id) \(thread.name): \(event.start - snapshot.start) \(event.kind) \(event.place) \(event.duration ?? .zero)\(wait)"
                }
            }
        }
    }

    // Guarantees: One seed of a simulation gives one recording.
    @Test func `one seed gives one recording, and another seed gives another`() throws {
        var traces: Set<[String]> = []
        for seed in 0..<10 as Range<UInt64> {
            let trace = try Self.trace(seed: seed)
            #expect(try Self.trace(seed: seed) == trace)
            traces.insert(trace)
        }
        #expect(traces.count > 1)
    }

    @Test func `a recording of a simulation has its threads, its clock and their waits`() throws {
        let trace = try Self.trace(seed: 3)
        let names = trace.map { $0.split(separator: ":")[0].split(separator: " ").last }
        #expect(Set(names) == ["simulation", "left", "right"])
        let ticks = trace.filter { $0.contains("mark tick") }.map { $0.split(separator: ":")[1].prefix(6) }
        #expect(ticks == [" 60.0 ", " 120.0", " 180.0"])
        #expect(trace.contains { $0.contains("handler(block)") && $0.contains("waited 0.0 seconds") })
        // The waiting worker sleeps meanwhile.
        #expect(trace.contains { $0.contains("left") && $0.contains("sleep") })
    }

    @Test func `neither a simulation nor its process gets into the recording of the other`() throws {
        let recorder = try FlightRecorder(detail: .everything)
        try RunLoopSimulation.run { simulation in
            let thread = try RunLoopThread(name: "simulated")
            thread.runLoop.perform {}
            simulation.settle()
        }
        #expect(!recorder.snapshot().threads.contains { $0.name == "simulated" || $0.name == "simulation" })
        recorder.stop()

        try RunLoopSimulation.run { simulation in
            let recorder = try FlightRecorder(detail: .everything)
            defer { recorder.stop() }
            let ran = Gate()
            let outside = try BareThread {
                recorder.mark("real")
                ran.open()
            }
            #expect(ran.wait())
            outside.join()
            recorder.mark("simulated")
            #expect(recorder.snapshot().threads.map(\.name) == ["simulation"])
        }
    }
}
