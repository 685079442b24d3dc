import Glibc
import MessagePorts
import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import Inspection

/// Inspectors that mean harm, and those who ask one too often.
@Suite(.serialized, .disabled(if: ForcedRecording.isOn)) struct HostileInspectorTests {
    private static let inspected = Program("Inspected")
    private static let inspect = Program("runloop-inspect")

    // Guarantees: No text of another process has a character that a terminal obeys.
    @Test func `the texts of an inspector are harmless wherever they are shown`() throws {
        let escape = "\u{1B}]0;OWNED\u{7}\u{1B}[2J\u{9B}31mall is well\u{202E}"
        var fake = try FakeInspector(.text(Array(escape.utf8)))
        var failure: RemoteInspectorError?
        do { _ = try RemoteInspector(processID: getpid()).report() } catch { failure = error }
        #expect(failure == .refused("\\u{1b}]0;OWNED\\u{7}\\u{1b}[2J\\u{9b}31mall is well\\u{202e}"))
        try expectHarmless()
        fake.stop()
        var report = HostileReportTests.report()
        report.processID = getpid()
        report.program = escape
        report.loops[0].name = escape
        fake = try FakeInspector(.file(Array(report.json.utf8)))
        #expect(try RemoteInspector(processID: getpid()).report().program.hasPrefix("\\u{1b}]0;OWNED"))
        try expectHarmless()
        fake.stop()
        fake = try FakeInspector(.file(Array("{\"loops\":\"\(escape)\",\"\(escape)\":[]}".utf8)))
        try expectHarmless()
        fake.stop()
    }

    /// Checks what the program prints about this process.
    private func expectHarmless() throws {
        let process = "\(getpid())"
        for arguments in [[], [process, "--once"], [process, "--json"], [process, "--metrics"]] {
            let ending = try Self.inspect.run(list: arguments)
            let text = ending.lines.joined() + ending.message.filter { $0 != "\n" }
            #expect(!text.isEmpty)
            #expect(
                text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7f...0x9f ~= $0.value) },
                "\(arguments)")
            #expect(!text.contains("\u{202E}"))
        }
    }

    @Test func `a report of another process, and a file that is no report, are errors`() throws {
        let deep = [UInt8](repeating: UInt8(ascii: "["), count: 3_000_000)
        var other = HostileReportTests.report()
        other.processID = 1
        for (file, words) in [
            (deep, "nested too deeply"), (Array(other.json.utf8), "it is the report of process 1"),
            (Array(repeating: 0x20, count: ForeignJSON.mostBytes + 1), "bytes"), ([], ""),
        ] {
            let fake = try FakeInspector(.file(file))
            defer { fake.stop() }
            do {
                _ = try RemoteInspector(processID: getpid()).report()
                Issue.record("it is a report")
            } catch {
                var reason = "\(error), which is no malformed answer"
                if error.reason == .malformed { reason = error.details }
                #expect(reason.contains(words))
            }
        }
    }

    @Test func `of a page of another process, only the recording is shown, with harmless texts`() throws {
        let refresh = "<meta http-equiv=\"refresh\" content=\"0;url=//x\">"
        let own = try Self.inspected.whileRunning("idle") { process, _ in
            String(decoding: try RemoteInspector(processID: process).recording(as: .page), as: UTF8.self)
        }
        let recording = try #require(own.firstMatch(of: /id="recording">([^<]*)<\/script>/)).output.1
        let texts = "{\"program\":\"\\u003c/script>\\u003cmeta http-equiv=refresh>\u{202E}\"}"
        for (sent, shown) in [
            (String(recording), String(recording)),
            (texts, "{\"program\":\"\\u003c/script>\\u003cmeta http-equiv=refresh>\\\\u{202e}\"}"),
            ("1" + refresh, "1\\u003cmeta http-equiv=\"refresh\" content=\"0;url=//x\">"),
        ] {
            let page =
                "\(refresh)<script type=\"application/json\" id=\"recording\">\(sent)</script>\(refresh)"
            let fake = try FakeInspector(.file(Array(page.utf8)))
            defer { fake.stop() }
            let text = String(
                decoding: try RemoteInspector(processID: getpid()).recording(as: .page), as: UTF8.self)
            #expect(text == own.replacing(recording, with: shown))
            #expect(
                !text.contains("<meta http-equiv=\"refresh")
                    && text.prefix(400).contains("default-src 'none'"))
        }
        let fake = try FakeInspector(.file(Array(refresh.utf8)))
        defer { fake.stop() }
        #expect(throws: RemoteInspectorError.malformed("it contains no recording")) {
            try RemoteInspector(processID: getpid()).recording(as: .page)
        }
    }

    // Guarantees: A process that says nothing does not delay the look at another one.
    @Test func `processes that say nothing hold no other look-up up`() throws {
        // Stopped processes are as silent as those that only have the name of an inspector.
        let user = Child.canChangeUser ? "nobody" : "idle"
        try whileStopped(6, user) { silent in
            try Self.inspected.whileRunning("idle") { process, _ in
                // One after another, six of them would take longer than all may take together.
                let outcomes = InspectorSurvey.reports(
                    of: silent + [process], timeout: .seconds(6), total: .seconds(20))
                for process in silent {
                    #expect(throws: RemoteInspectorError.port(MessagePortError(.timedOut))) {
                        _ = try outcomes[process]?.get()
                    }
                }
                let report = try outcomes[process]?.get()
                #expect(report?.processID == process)
            }
        }
    }

    private func whileStopped(_ count: Int, _ user: String, _ body: ([Int32]) throws -> Void) throws {
        func next(_ stopped: [Int32]) throws {
            if stopped.count == count { return try body(stopped) }
            try Self.inspected.whileRunning(user, "unrecorded") { process, _ in
                kill(process, SIGSTOP)
                var status: CInt = 0
                // Safe: the kernel fills a local variable.
                #expect(unsafe waitpid(process, &status, WUNTRACED) == process)
                defer { kill(process, SIGCONT) }
                try next(stopped + [process])
            }
        }
        try next([])
    }

    // Guarantees: However many requests an inspector gets, it asks each loop at most once in a tenth of a second.
    @Test func `however many requests there are, a loop is asked once in a tenth of a second`() throws {
        let inspector = try Inspector()
        defer { inspector.stop() }
        let thread = try RunLoopThread(name: "asked")
        defer { thread.stop() }
        let ready = Gate()
        thread.runLoop.perform { ready.open() }
        #expect(ready.wait())
        let before = thread.runLoop.statistics.messages
        let began = ContinuousClock.now
        let threads = try Threads(3) { _ in
            let remote = try RemoteInspector(processID: getpid(), timeout: .seconds(60))
            for _ in 0..<20 { _ = try remote.report(timeout: .seconds(60)) }
        }
        try threads.join()
        let asked = thread.runLoop.statistics.messages - before
        let mostAsked = Int((ContinuousClock.now - began) / .milliseconds(100)) + 1
        #expect(asked >= 1 && asked <= mostAsked && asked < 60, "\(asked) questions, and not \(mostAsked)")
    }

    @Test func `a process that does not exist, and one without an inspector, are told apart`() throws {
        // No process has the highest ID, which is beyond the kernel's limit.
        let none = try Self.inspect.run("\(Int32.max)", "--once")
        #expect(none.code == 1 && none.message == "runloop-inspect: there is no process \(Int32.max)\n")
        func inspect(_ process: Int32) throws { _ = try RemoteInspector(processID: process) }
        do { try inspect(.max) } catch RemoteInspectorError.Reason.refused {
            Issue.record("nobody has refused")
        } catch RemoteInspectorError.Reason.noProcess {}
        let nobody = #expect(throws: RemoteInspectorError.self) { try RemoteInspector(processID: .max) }
        #expect(nobody?.reason == .noProcess && nobody?.processID == .max)
        #expect(nobody == RemoteInspectorError(.noProcess, processID: .max))
        let other = try Self.inspect.run("1", "--once")
        #expect(other.code == 1 && other.message.hasPrefix("runloop-inspect: the process has no inspector"))
    }

    @Test func `a timeout of any length is one`() throws {
        let inspector = try Inspector()
        defer { inspector.stop() }
        for timeout: Duration in [.seconds(Int64.max), .seconds(Int64.max / 2)] {
            let remote = try RemoteInspector(processID: getpid(), timeout: timeout)
            #expect(try remote.report(timeout: timeout).processID == getpid())
            #expect(ProcessReport(timeout: timeout).processID == getpid())
        }
        // A deadline in the past is no error by itself: an answer that is there already is taken.
        do throws(RemoteInspectorError) {
            let remote = try RemoteInspector(processID: getpid(), timeout: .seconds(Int64.min))
            #expect(try remote.report(timeout: .seconds(Int64.min)).processID == getpid())
        } catch {
            if error.reason == .port { return }
            Issue.record(error)
        }
    }
}
