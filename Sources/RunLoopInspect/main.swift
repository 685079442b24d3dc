import Glibc
import Inspection
import RunLoops

func fail(_ reason: some CustomStringConvertible, status: CInt = 1) -> Never {
    try? STDERR_FILENO.write(Array("runloop-inspect: \(reason)\n".utf8))
    exit(status)
}

func list() {
    let processes = RemoteInspector.processes
    if processes.isEmpty { print("no process has an inspector") }
    for process in processes {
        do {
            let report = try RemoteInspector(process: process).report()
            let blocked = report.loops.count(where: \.isBlocked)
            print(
                "\(process)  \(report.program)  \(report.loops.count) loops\(blocked > 0 ? ", \(blocked) BLOCKED" : "")"
            )
        } catch { print("\(process)  \(error)") }
    }
}

/// Shows a new report each second, which replaces the previous report on the screen.
func watch(_ inspector: RemoteInspector) throws(RemoteInspector.Failure) {
    var earlier: ProcessReport?
    while true {
        let report = try inspector.report()
        let size = Terminal.size
        // The escape sequences move the cursor to the upper left corner, and clear the rest of the screen.
        let lines = report.text(since: earlier, width: size.columns).split(
            separator: "\n", omittingEmptySubsequences: false)
        print("\u{1B}[H\u{1B}[J" + lines.prefix(max(5, size.rows - 1)).joined(separator: "\n"))
        fflush(nil)
        earlier = report
        RunLoop.current.run(until: .now + .seconds(1))
    }
}

func save(_ bytes: [UInt8], _ path: String) throws(SystemError) {
    if path == "-" { return try STDOUT_FILENO.write(bytes) }
    // Safe: `open` only reads the path.
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    if descriptor < 0 { throw SystemError(call: "open", code: errno) }
    let file = OwnedDescriptor(descriptor)
    try file.descriptor.write(bytes)
}

SignalSource.ignoreBrokenPipes()
do {
    switch try Command(Array(CommandLine.arguments.dropFirst())) {
    case .help: print(Command.usage)
    case .list: list()
    case .watch(let process): try watch(RemoteInspector(process: process))
    case .report(let process, let form):
        let report = try RemoteInspector(process: process).report()
        switch form {
        case .text: print(report.text(width: Terminal.size.columns), terminator: "")
        case .json: print(report.json)
        case .metrics: print(report.prometheusText, terminator: "")
        }
    case .save(let process, let format, let path):
        try save(RemoteInspector(process: process).recording(as: format), path)
    case .serve(let process, let port):
        let server = try TimelineServer(RemoteInspector(process: process), port: port)
        print("the timeline of process \(process): \(server.address)")
        fflush(nil)
        RunLoop.current.run()
    }
} catch let mistake as Command.Mistake {
    fail(mistake.text, status: 2)
} catch {
    fail("\(error)")
}
