import InMemoryLogging
import Logging
import RunLoops
import RunLoopsLogging
import Testing

extension AddOns {
    @Suite struct LoggingSnippets {
        @Test func `a server logs reports, blocked loops and slow handlers`() async throws {
            let log = InMemoryLogHandler()
            let logger = Logger(label: "server") { _ in log }
            let recorder = try FlightRecorder()
            @Sendable func keep(_ snapshot: FlightRecorder.Snapshot) -> String {
                "\(snapshot.threads.count) threads"
            }
            RunLoopDiagnostics.log(to: logger)
            let watchdog = try RunLoopWatchdog(threshold: .milliseconds(200), logger: logger)
            try recorder.logSlowHandlers(over: .milliseconds(100), to: logger) { snapshot in
                ["recording": "\(keep(snapshot))"]
            }
            try await withThread("slow") { thread in
                let end = ContinuousClock.now + .milliseconds(500)
                try await thread.runLoop.performAndWait { while ContinuousClock.now < end {} }
                try await eventually { log.entries.contains { $0.metadata["recording"] != nil } }
                #expect(log.entries.contains { $0.message == "A handler blocks its loop" })
            }
            watchdog.stop()
            recorder.stop()
            RunLoopDiagnostics.handler = nil
        }
    }
}
