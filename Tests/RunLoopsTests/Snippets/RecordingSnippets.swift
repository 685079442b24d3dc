import RunLoops
import TestSupport
import Testing

/// The code of the article "Looking back at the last seconds".
@Suite(.disabled(if: ForcedRecording.isOn)) struct RecordingSnippets {
    @Test func `a slow handler gives a snapshot, which can be read`() throws {
        let (printed, wasSlow) = (Printed(), Gate())
        let print = { @Sendable (place: String, text: String, hasThreads: Bool) in
            printed(place, text, hasThreads)
            if place.contains("RecordingSnippets") { wasSlow.open() }
        }
        let recorder = try FlightRecorder(keeping: .seconds(10))
        try recorder.reportSlowHandlers(over: .milliseconds(50)) { snapshot, report in
            print(report.madeAt, "was slow;", snapshot.threads.count > 0)
        }
        let worker = try RunLoopThread(name: "worker")
        worker.runLoop.perform {
            let end = ContinuousClock.now + .milliseconds(200)
            while ContinuousClock.now < end {}
        }
        #expect(wasSlow.wait())
        worker.stop()
        recorder.stop()
        #expect(printed.lines.contains { $0.hasSuffix("was slow; true") })
    }

    @Test func `a snapshot has slow handlers, and what runs now`() throws {
        let print = Printed()
        let recorder = try FlightRecorder()
        let (started, mayEnd) = (Gate(), Gate())
        let worker = try RunLoopThread(name: "worker")
        worker.runLoop.perform {
            let end = ContinuousClock.now + .milliseconds(60)
            while ContinuousClock.now < end {}
        }
        worker.runLoop.perform {
            started.open()
            _ = mayEnd.wait()
        }
        #expect(started.wait())
        let snapshot = recorder.snapshot()
        for thread in snapshot.threads {
            if let now = thread.eventsUnderWay.last {
                print(thread.name, now.kind, now.place)
            }
            let slow = thread.events.filter { event in
                if case .handler = event.kind { event.duration ?? .zero > .milliseconds(50) } else { false }
            }
            for event in slow { print(thread.name, event.place, event.wait ?? .zero) }
        }
        mayEnd.open()
        worker.stop()
        recorder.stop()
        #expect(
            print.lines.contains {
                $0.hasPrefix("worker handler(block) RunLoopsTests/RecordingSnippets.swift:")
            })
        #expect(print.lines.contains { $0.hasPrefix("worker RunLoopsTests/RecordingSnippets.swift:") })
    }

    @Test func `marks and intervals are events`() throws {
        let recorder = try FlightRecorder()
        let query = { () throws -> [Int] in [1, 2] }
        recorder.mark("configuration reloaded")
        let rows = try recorder.interval("query") { try query() }
        #expect(rows == [1, 2])
        #expect(
            recorder.snapshot().threads.flatMap(\.events).map(\.place) == ["configuration reloaded", "query"])
        recorder.stop()
    }
}
