import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Reports of ports go through the package's diagnostics, which never block a loop.
@Suite struct ReportTests {
    @Test func `a port reports sixteen times, and says that it goes on counting`() async throws {
        try await #require(processExitsWith: .success) {
            let lines = Log<String>()
            RunLoopDiagnostics.handler = { lines.add($0) }
            let log = RateLimitedLog()
            let made = Shared()
            func line(_ number: Int) -> String {
                made.increment()
                return "report \(number)"
            }
            for number in 1...100 { log.report(line(number)) }
            DiagnosticQueue.drainProcess(until: .hang)
            #expect(lines.entries.count == RateLimitedLog.mostLines && made.count == RateLimitedLog.mostLines)
            #expect(
                lines.entries.last == "report 16; further events of this port are counted, and not reported")
        }
    }

    // Guarantees: A peer that makes a port report violations does not stop the loop, even if standard error is a full pipe.
    @Test func `malformed packets of another process do not stop a loop whose standard error is full`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            // A report that blocks the loop would block it for ever.
            Child.endThisIfItHangs(seconds: 60)
            let stage = try HostileStage()
            let wire = try Wire.pipe()
            _ = try fill(wire)
            try withStandardError(wire.far) {
                let ending = try Program("PortPeer").run("malform", stage.server.names.directory)
                #expect(ending.lines == ["100 connections ended"])
                stage.seeThatHonestGoesOn()
                #expect(stage.statistics.malformedPackets == 100)
                try stage.end()
            }
        }
    }
}
