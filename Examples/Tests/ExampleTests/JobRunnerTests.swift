import Foundation
import Testing

extension Examples {
    /// The runner of shell commands, and the processes that it leaves behind: none.
    @Suite(.serialized) struct JobRunnerTests {
        /// A number that no other process of the machine has among its arguments, for `sleep`.
        private let mark = "86399.\(getpid())\(UInt32.random(in: 1...UInt32.max))"

        /// A command that ignores `SIGTERM`, and whose child and grandchild ignore it, too.
        private var stubborn: String {
            "trap '' TERM; (sleep \(mark) & sleep \(mark)) & echo ready; sleep \(mark); echo never"
        }

        /// The number of processes of the machine with the mark among their arguments.
        private func markedProcesses() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc").count { name in
                guard Int(name) != nil,
                    let data = FileManager.default.contents(atPath: "/proc/\(name)/cmdline")
                else { return false }
                return String(decoding: data, as: UTF8.self).contains(mark)
            }
        }

        @Test func `commands run at the same time, and their output and their ends are told`() throws {
            let runner = try ServerProcess(
                "job-runner", input: "echo one; echo two >&2\nexit 3\nkill -KILL $$\n")
            #expect(try runner.end() == 1)
            let lines = runner.output.all
            #expect(lines.filter { $0.hasPrefix("[1]") } == ["[1] one", "[1] two", "[1] ended: exited(0)"])
            #expect(lines.filter { $0.hasPrefix("[2]") } == ["[2] ended: exited(3)"])
            #expect(lines.filter { $0.hasPrefix("[3]") } == ["[3] ended: signaled(9)"])
            let other = try ServerProcess("job-runner", input: "true\n")
            #expect(try other.end() == 0)
        }

        @Test func `a command that takes too long is ended, with all that it has started`() throws {
            let runner = try ServerProcess(
                "job-runner", "--timeout", "1", "--grace", "1", input: stubborn + "\n")
            _ = try runner.output.line { $0 == "[1] ready" }
            #expect(try runner.end() == 1)
            #expect(runner.output.all.last == "[1] ended: timed out")
            try wait(until: "no process is left") { try markedProcesses() == 0 }
        }

        @Test func `what a command leaves in its group ends with it`() throws {
            let runner = try ServerProcess(
                "job-runner", input: "(trap '' TERM; sleep \(mark)) & sleep \(mark) & echo ready\n")
            #expect(try runner.end() == 0)
            #expect(runner.output.all.last == "[1] ended: exited(0)")
            try wait(until: "no process is left") { try markedProcesses() == 0 }
        }

        @Test func `a line without an end is cut at the limit, and its command ended`() throws {
            let runner = try ServerProcess(
                "job-runner", "--output-limit", "1000", "--timeout", "300",
                input:
                    "head -c 200000 /dev/zero | tr '\\0' x\nyes | tr -d '\\n'\nprintf end\nprintf '%01000d' 0\n"
            )
            #expect(try runner.end() == 1)
            let all = runner.output.all
            let cut = String(repeating: "x", count: 1000)
            #expect(all.contains("[1] \(cut)") && all.contains("[1] ended: too much output"))
            #expect(all.contains("[2] \(String(repeating: "y", count: 1000))"))
            #expect(all.contains("[2] ended: too much output"))
            #expect(all.contains("[3] end") && all.contains("[3] ended: exited(0)"))
            #expect(
                all.contains("[4] \(String(repeating: "0", count: 1000))")
                    && all.contains("[4] ended: exited(0)"))
        }

        @Test func `a command that writes too much is ended`() throws {
            let runner = try ServerProcess(
                "job-runner", "--output-limit", "1000", input: "sleep \(mark) & yes\necho short\n")
            #expect(try runner.end() == 1)
            #expect(runner.output.all.contains("[1] ended: too much output"))
            #expect(runner.output.all.count { $0 == "[1] y" } == 500)
            #expect(runner.output.all.contains("[2] ended: exited(0)"))
            try wait(until: "no process is left") { try markedProcesses() == 0 }
        }

        @Test func `SIGTERM ends what runs, and a second signal does so at once`() throws {
            for hurries in [false, true] {
                let grace = hurries ? "600" : "1"
                let runner = try ServerProcess(
                    "job-runner", "--grace", grace, input: "\(stubborn)\nsleep \(mark)\n")
                _ = try runner.output.line { $0 == "[1] ready" }
                try wait(until: "both commands run") { try markedProcesses() >= 4 }
                runner.signal(SIGTERM)
                _ = try runner.output.line { $0 == "[2] ended: stopped" }
                if hurries { runner.signal(SIGTERM) }
                #expect(try runner.end() == (hurries ? 128 + SIGTERM : 1))
                try wait(until: "no process is left") { try markedProcesses() == 0 }
            }
        }
    }
}
