import Glibc
import Inspection
import RunLoops
import TestSupport
import Testing

/// The code of the articles of Inspection.
@Suite(.serialized, .disabled(if: ForcedRecording.isOn)) struct OperatingSnippets {
    @Test func `a server makes a recorder and an inspector`() throws {
        let recorder = try FlightRecorder()
        let inspector = try Inspector(recorder: recorder)
        #expect(throws: Never.self) { try Inspector.attempt(inspector) }
        inspector.stop()
        recorder.stop()
    }

    @Test func `a slow handler leaves a page`() throws {
        let (lines, pages, wasSlow) = (Log<String>(), Log<[UInt8]>(), Gate())
        let log = { @Sendable (line: String) in lines.add(line) }
        let keep = { @Sendable (page: [UInt8]) in
            pages.add(page)
            wasSlow.open()
        }
        let recorder = try FlightRecorder(keeping: .seconds(10), byteLimit: 8 << 20)
        let inspector = try Inspector(recorder: recorder)
        try recorder.reportSlowHandlers(over: .milliseconds(100)) { snapshot, report in
            log(report.description)
            keep(snapshot.bytes(as: .page))
        }
        let worker = try RunLoopThread(name: "worker")
        worker.runLoop.perform {
            let end = ContinuousClock.now + .milliseconds(400)
            while ContinuousClock.now < end {}
        }
        #expect(wasSlow.wait())
        worker.stop()
        inspector.stop()
        recorder.stop()
        #expect(lines.entries.contains { $0.contains("has returned after") })
        #expect(String(decoding: pages.entries[0], as: UTF8.self).contains("Handlers by place"))
    }

    @Test func `a health check finds the loop that is stuck`() throws {
        var last: [RunLoop: Int] = [:]
        func health() -> String {
            let stuck = RunLoop.all.filter { loop in
                let passes = loop.statistics.passes
                defer { last[loop] = passes }
                return loop.pendingCount > 0 && last[loop] == passes
            }
            return stuck.isEmpty ? "ok" : "stuck: " + stuck.map(\.name).joined(separator: ", ")
        }
        let worker = try RunLoopThread(name: "stuck worker")
        let (began, mayEnd, ended) = (Gate(), Gate(), Gate())
        worker.runLoop.perform {
            began.open()
            _ = mayEnd.wait()
        }
        #expect(began.wait())
        worker.runLoop.perform { ended.open() }
        _ = health()
        #expect(health().contains("stuck worker"))
        mayEnd.open()
        #expect(ended.wait())
        _ = health()
        #expect(!health().contains("stuck worker"))
        worker.stop()
    }

    @Test func `metrics are a text`() throws {
        let recorder = try FlightRecorder()
        let page = ProcessReport(recorder: recorder).prometheusText
        recorder.stop()
        #expect(page.contains("# TYPE run_loop_passes_total counter"))
    }

    @Test func `a signal keeps a recording, while another loop is stuck`() throws {
        let recorder = try FlightRecorder()
        let (pages, isKept) = (Log<[UInt8]>(), Gate())
        let keep = { @Sendable (page: [UInt8]) in
            pages.add(page)
            isKept.open()
        }
        let recordings = try RunLoopThread(name: "recordings")
        try recordings.runLoop.performAndWait {
            let asked = try SignalSource(SIGUSR2) { _, _ in keep(recorder.snapshot().bytes(as: .page)) }
            try RunLoop.current.add(asked, forMode: .common)
        }
        let stuck = try RunLoopThread(name: "stuck")
        let (began, mayEnd) = (Gate(), Gate())
        stuck.runLoop.perform {
            began.open()
            _ = mayEnd.wait()
        }
        #expect(began.wait())
        kill(getpid(), SIGUSR2)
        #expect(isKept.wait())
        mayEnd.open()
        for thread in [recordings, stuck] {
            thread.stop()
            thread.join()
        }
        recorder.stop()
        #expect(pages.entries[0].starts(with: Array("<!DOCTYPE html>".utf8)))
    }
}

extension Inspector {
    /// Uses an inspector, and so keeps it alive until here.
    fileprivate static func attempt(_ inspector: Inspector) throws {
        _ = try RemoteInspector(processID: getpid())
    }
}
