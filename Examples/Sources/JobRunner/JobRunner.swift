import Glibc
import RunLoops
import ServerSupport

/// Runs the shell commands that standard input names, once or each day.
@main struct JobRunner {
    static let usage = """
        usage: job-runner [--daily HOUR] [--timeout 60] [--output-limit 1048576] [--grace 2]

          reads commands from standard input, one in each line, and runs them at the same time
          --daily         runs them each day at this hour, until SIGTERM
          --timeout       seconds after which a command is ended
          --output-limit  bytes of output after which a command is ended
          --grace         seconds between SIGTERM and SIGKILL
        exits with 0 if all commands have succeeded, and with 1 otherwise
        """

    static func main() { runProgram { try run() } }

    private static func run() throws {
        var arguments = Arguments(usage: usage)
        let hour = arguments.integer("daily", default: -1, in: 0...23)
        let limits = Runner.Limits(
            time: .seconds(arguments.integer("timeout", default: 60, in: 1...86_400)),
            output: arguments.integer("output-limit", default: 1 << 20, in: 1...(1 << 30)),
            grace: .seconds(arguments.integer("grace", default: 2, in: 0...600)))
        arguments.finish()
        var lines: [String] = []
        while let line = readLine() { lines.append(line) }
        let commands = lines

        let loop = RunLoop.current
        let runner = Runner(on: loop, limits: limits, stopsWhenIdle: hour < 0)
        let stop = try GracefulStop(within: limits.grace + .seconds(5)) { _ in
            runner.assumeIsolated { $0.stop() }
        }
        stop.onForcedEnd { _, end in
            runner.assumeIsolated { $0.killAll() }
            exit(end.exitStatus)
        }
        try loop.add(stop, forMode: .common)
        let start: @Sendable () -> Void = {
            runner.perform { runner in for command in commands { runner.start(command) } }
        }
        if hour < 0 {
            start()
        } else {
            let daily = WallClockTimer {
                nextDate(atHour: hour, after: $0)
            } handler: { _ in
                start()
            }
            try loop.add(daily, forMode: .common)
        }
        announce("running")
        if hour >= 0 || !commands.isEmpty { loop.run() }
        if runner.assumeIsolated({ $0.failed }) > 0 { exit(1) }
    }
}
