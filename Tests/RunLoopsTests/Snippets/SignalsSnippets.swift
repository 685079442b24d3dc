import Glibc
import RunLoops
import TestSupport
import Testing

/// The code of the article "Signals and children".
@Suite struct SignalsSnippets {
    @Test func `a program is asked to end, and does`() async throws {
        try await #require(processExitsWith: .success) {
            let print = Printed()
            try onLoopThread { loop in
                let terminate = try SignalSource(SIGTERM) { source, arrival in
                    print("asked to end by user", arrival.sender?.userID ?? 0)
                    RunLoop.current.stop()
                }
                try RunLoop.current.add(terminate, forMode: .common)
                Signals.send(SIGTERM)
                #expect(loop.run(in: .default, until: .hang) == .stopped)
            }
            #expect(print.lines == ["asked to end by user \(getuid())"])
        }
    }

    private let print = Printed()

    func watch(_ child: pid_t) throws {
        let source = try ProcessSource(child) { source, ending in
            switch ending {
            case .exited(let code): print("exit code", code)
            case .killed(let signal, _): print("killed by signal", signal)
            default: print("ended")
            }
        }
        try RunLoop.current.add(source, forMode: .default)
    }

    @Test func `a child's end is told`() throws {
        try onLoopThread { loop in
            for command in ["exit 3", "kill -HUP $$"] {
                try watch(Child(shell: command).processID)
                loop.run()
            }
        }
        #expect(print.lines == ["exit code 3", "killed by signal 1"])
    }
}
