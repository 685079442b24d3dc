import Glibc
import MessagePorts
import Notifications
import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import Inspection

/// Other users, stopped processes, and the contents of messages.
@Suite(.disabled(if: ForcedRecording.isOn)) struct InspectorRefusalTests {
    private static let inspected = Program("Inspected")
    private static let inspect = Program("runloop-inspect")

    @Test func `a process of another user is refused`() async throws {
        // Only the administrator can start a process of another user.
        if !Child.canChangeUser { return }
        let inspector = try Inspector()
        defer { inspector.stop() }
        await #expect(processExitsWith: .success) {
            try #require(setuid(65_534) == 0)
            #expect(throws: RemoteInspectorError.port(MessagePortError(.notAdmitted))) {
                try RemoteInspector(processID: getppid())
            }
        }
        #expect(throws: Never.self) { try RemoteInspector(processID: getpid()) }
    }

    @Test func `root is answered by a process of any user`() throws {
        if !Child.canChangeUser { return }
        try Self.inspected.whileRunning("nobody", "idle") { process, _ in
            let report = try RemoteInspector(processID: process).report()
            #expect(report.loops.contains { $0.name == "idle" })
        }
    }

    @Test func `a stopped process is an error within the timeout, and is answered for when it goes on`()
        throws
    {
        try Self.inspected.whileRunning("idle") { process, _ in
            let early = try RemoteInspector(processID: process)
            #expect(kill(process, SIGSTOP) == 0)
            var status: CInt = 0
            // Safe: the kernel fills a local variable.
            #expect(unsafe waitpid(process, &status, WUNTRACED) == process)
            #expect(throws: RemoteInspectorError.port(MessagePortError(.timedOut))) {
                try early.report(timeout: .milliseconds(50))
            }
            #expect(throws: RemoteInspectorError.port(MessagePortError(.timedOut))) {
                try RemoteInspector(processID: process, timeout: .milliseconds(50))
            }
            #expect(kill(process, SIGCONT) == 0)
            #expect(try early.report(timeout: .seconds(60)).processID == process)
            #expect(
                try RemoteInspector(processID: process, timeout: .seconds(60)).report().processID == process)
        }
    }

    @Test func `neither a report nor a recording shows what a message contains`() throws {
        let recorder = try FlightRecorder(detail: .everything)
        defer { recorder.stop() }
        let secret = "secret \(getpid()) secret"
        let thread = try RunLoopThread(name: "confidant")
        defer { thread.stop() }
        let (waiting, served) = (Port<String>(), Port<String>())
        let center = NotificationCenter()
        let scratch = try ScratchDirectory()
        defer { try? scratch.remove() }
        let names = PortNames(directory: scratch.path)
        let name = try PortName("confidant")
        let arrived = Gate()
        let token = try thread.runLoop.performAndWait {
            RunLoop.current.add(waiting, forMode: RunLoop.Mode("never")) { _ in }
            RunLoop.current.add(served, forMode: .default) { _ in }
            try RunLoop.current.add(MessagePort(named: name, in: names), forMode: .default) { _ in
                arrived.open()
            }
            return center.addObserver(
                forName: Notification.Name("told"), object: nil, on: RunLoop.current,
                inModes: [RunLoop.Mode("never")]
            ) { _ in }
        }
        for port in [waiting, served] { try port.send(secret) }
        center.post(name: Notification.Name("told"), object: nil, userInfo: ["key": secret])
        let remote = try RemotePort(named: name, in: names)
        try remote.send(Array(secret.utf8))
        #expect(arrived.wait())
        let report = ProcessReport(recorder: recorder, timeout: .seconds(60))
        #expect(report.loops.contains { $0.name == "confidant" && $0.details?.inputs.count ?? 0 >= 4 })
        for text in [report.json, report.text(), report.prometheusText] { #expect(!text.contains(secret)) }
        for format in TraceFormat.allCases {
            let bytes = recorder.snapshot().bytes(as: format)
            #expect(bytes.count > 1_000)
            #expect(!String(decoding: bytes, as: UTF8.self).contains(secret))
        }
        token.remove()
    }
}
