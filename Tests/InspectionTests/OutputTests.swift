import Foundation
import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import Inspection

/// Outputs that cannot be written: of the program, and of the library.
@Suite(.disabled(if: ForcedRecording.isOn)) struct OutputTests {
    private static let inspected = Program("Inspected")

    /// Runs a command of a shell, in which `inspect` is the program and `$1` the ID of a process.
    private static func shell(_ command: String, _ process: Int32) throws -> Program.Ending {
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "runloop-inspect").path
        return try Program(path: "/bin/bash").run(
            "-c", "inspect() { '\(program)' \"$@\"; }; \(command)", "bash", "\(process)", seconds: 60)
    }

    @Test func `an output that is full, closed or left is an error with a message`() throws {
        try Self.inspected.whileRunning("idle") { process, _ in
            for form in ["--once", "--json", "--metrics", "--html -", "--trace -", ""] {
                let full = try Self.shell("inspect $1 \(form) > /dev/full", process)
                #expect(full.code == 1 && !full.hung, "\(form)")
                #expect(
                    full.message.contains("the standard output: write: No space left on device"), "\(form)")
                let closed = try Self.shell("inspect $1 \(form) >&-", process)
                #expect(closed.code == 1 && !closed.hung, "\(form)")
                #expect(closed.message.contains("the standard output: write: Bad file descriptor"), "\(form)")
            }
            for form in ["", "--help"] {
                let list = try Self.shell("inspect \(form) > /dev/full", process)
                #expect(list.code == 1 && list.message.contains("No space left on device"))
            }
            let silent = try Self.shell("inspect $1 --once >&- 2>&- <&-; echo $?", process)
            #expect(silent.lines == ["1"])
            // The thread sanitizer's own start writes to a file, too, and ends a process that may write none.
            if !Faults.bearForks { return }
            let file = try Self.shell(
                "ulimit -f 0; f=$(mktemp); inspect $1 --html $f; echo $?; rm $f", process)
            #expect(file.lines == ["1"] && file.message.contains("write: File too large"))
        }
    }

    @Test func `the live view ends when its reader has left, and sends no escape codes into a pipe`() throws {
        try Self.inspected.whileRunning("idle") { process, _ in
            let live = try Self.shell("{ inspect $1; echo \"status $?\" >&2; } | head -1", process)
            #expect(!live.hung)
            #expect(live.lines.count == 1 && live.lines[0].hasPrefix("Inspected (\(process)): "))
            #expect(live.message.contains("the standard output: write: Broken pipe"))
            #expect(live.message.contains("status 1"))
        }
    }

    // Guarantees: A recording that cannot be written is an error, and raises no signal.
    @Test func `a snapshot that cannot be written is an error, and no signal`() async {
        await #expect(processExitsWith: .success) { try OutputTests.writeInVain() }
    }

    private static func writeInVain() throws {
        // The threads on which tests run block signals.
        for signal in [SIGPIPE, SIGXFSZ] { Signals.block(signal, false) }
        let recorder = try FlightRecorder()
        let snapshot = recorder.snapshot()
        for format in TraceFormat.allCases {
            #expect(throws: SystemError(call: "write", code: EPIPE)) {
                let pipe = try Wire.pipe()
                defer { pipe.close() }
                pipe.close(pipe.near)
                try snapshot.write(to: pipe.far, as: format)
            }
        }
        #expect(!Signals.isBlocked(SIGPIPE) && !Signals.isBlocked(SIGXFSZ))
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        // Safe: the kernel reads a local variable.
        let isSet = unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0
        #expect(isSet)
        let scratch = FileManager.default.temporaryDirectory.appending(path: "snapshot-\(getpid())").path
        // Safe, both: the calls only read the path.
        let file = unsafe open(scratch, O_WRONLY | O_CREAT, 0o600)
        _ = unsafe unlink(scratch)
        #expect(throws: SystemError(call: "write", code: EFBIG)) {
            try snapshot.write(to: file, as: .perfetto)
        }
        // An inspector of such a process has no file for its answer, and says so.
        let inspector = try Inspector(recorder: recorder)
        OutputTests.expectRefusal("File too large")
        inspector.stop()
    }

    private static func expectRefusal(_ words: String) {
        do {
            _ = try RemoteInspector(processID: getpid()).report()
            Issue.record("there is a report")
        } catch {
            #expect("\(error)".contains(words))
        }
    }
}
