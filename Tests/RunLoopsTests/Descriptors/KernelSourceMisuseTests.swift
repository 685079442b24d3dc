import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Misuse of the sources of signals and processes ends the program with a message that says what to do instead.
@Suite struct KernelSourceMisuseTests {
    @Test(
        arguments: [
            (SIGKILL, "SIGKILL cannot be handled by any program; choose another signal"),
            (SIGSTOP, "SIGSTOP cannot be handled by any program; choose another signal"),
            (SIGSEGV, "SIGSEGV reports a fault of the thread that receives it"),
            (SIGABRT, "SIGABRT reports a fault of the thread that receives it"),
            (SIGCHLD, "SIGCHLD is for code that waits for children; use a ProcessSource for each child"),
            (32, "no program can use a signal 32; choose one of the system's, such as SIGTERM"),
            (0, "no program can use a signal 0; choose one of the system's, such as SIGTERM"),
            (65, "no program can use a signal 65; choose one of the system's, such as SIGTERM"),
        ] as [(CInt, String)])
    func `a signal that no source can have is refused`(signal: CInt, message: String) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [signal] in
            _ = try SignalSource(signal) { _, _ in }
        }
        expect(result, says: "SignalSource.init: \(message)")
    }

    @Test(arguments: [0, -1] as [CInt]) func `a process has a number above zero`(number: CInt) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [number] in
            _ = try ProcessSource(number) { _, _ in }
        }
        expect(
            result, says: "ProcessSource.init: \(number) is not a process ID",
            "check the result of fork or posix_spawn first")
    }

    @Test(arguments: Misuse.allCases) func `a source that another loop has is its`(misuse: Misuse) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [misuse] in
            try misuse.happen()
        }
        for part in misuse.message { expect(result, says: part) }
    }

    enum Misuse: String, Codable, CaseIterable {
        case addSignalElsewhere, addProcessElsewhere
        case addSignal, addProcess

        var message: [String] {
            switch self {
            case .addSignalElsewhere:
                [
                    "RunLoop.add(source): the source of SIGTERM made at ", "KernelSourceMisuseTests.swift:",
                    " is in another loop; remove it there first",
                ]
            case .addProcessElsewhere:
                [
                    "RunLoop.add(source): the source of process ", " made at ",
                    " is in another loop; remove it there first",
                ]
            case .addSignal, .addProcess:
                ["RunLoop.add(source): called outside the loop's own thread", "and add the source there"]
            }
        }

        fileprivate func happen() throws {
            try onLoopThread { loop in
                // Both are safe as far as the misuse is detected: this thread waits for the other one.
                nonisolated(unsafe) let signal = try SignalSource(SIGTERM) { _, _ in }
                nonisolated(unsafe) let process = try ProcessSource(getpid()) { _, _ in }
                let isInLoop = self != .addSignal && self != .addProcess
                if isInLoop {
                    try unsafe loop.add(signal, forMode: .default)
                    try unsafe loop.add(process, forMode: .default)
                }
                try BareThread {
                    do {
                        switch self {
                        case .addSignalElsewhere: try unsafe RunLoop.current.add(signal, forMode: .default)
                        case .addProcessElsewhere: try unsafe RunLoop.current.add(process, forMode: .default)
                        case .addSignal: try unsafe loop.add(signal, forMode: .default)
                        case .addProcess: try unsafe loop.add(process, forMode: .default)
                        }
                    } catch { Issue.record(error) }
                }.join()
            }
        }
    }
}
