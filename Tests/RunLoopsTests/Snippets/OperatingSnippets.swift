import RunLoops
import TestSupport
import Testing

/// The code of the article "Watching loops".
@Suite struct OperatingSnippets {
    @Test func `a handler that takes too long is noticed`() throws {
        let (printed, noticed) = (Printed(), Gate())
        let print = { @Sendable (loop: String, handler: RunLoop.HandlerKind, madeAt: String) in
            printed(loop, handler, madeAt)
            if loop == "worker" && madeAt.contains("OperatingSnippets") { noticed.open() }
        }
        let computeForALongTime = { @Sendable in _ = noticed.wait() }
        let watchdog = try RunLoopWatchdog(threshold: .milliseconds(20)) { report in
            print(report.loop.name, report.handler, report.madeAt)
        }
        let worker = try RunLoopThread(name: "worker")
        worker.runLoop.perform { computeForALongTime() }
        let line = #line - 1
        try worker.runLoop.performAndWait {}
        worker.stop()
        watchdog.stop()
        #expect(printed.lines.contains("worker block RunLoopsTests/OperatingSnippets.swift:\(line)"))
    }

    @Test func `the longest handler of a loop is known afterwards`() throws {
        let print = Printed()
        let worker = try RunLoopThread(name: "worker")
        let serveForAWhile = {
            worker.runLoop.perform {}
            try worker.runLoop.performAndWait {}
        }
        try worker.runLoop.performAndWait { RunLoop.current.measuresHandlers = true }
        try serveForAWhile()
        if let longest = worker.runLoop.statistics.longestHandler {
            print(longest.duration, "in the handler made at", longest.madeAt)
        }
        worker.stop()
        #expect(print.lines.first?.contains("in the handler made at RunLoopsTests/OperatingSnippets") == true)
    }
}
