import Glibc
import Inspection
import RunLoops

/// Ends the program with a message.
func fail(_ reason: some CustomStringConvertible, status: CInt = 1) -> Never {
    let line = "runloop-inspect: \(ForeignText(reason.description, atMost: 4_000))\n"
    // If there is no standard error either, the status remains.
    do { try STDERR_FILENO.write(Array(line.utf8)) } catch {}
    exit(status)
}

func list() throws(StandardOutput.Failure) {
    let processes = RemoteInspector.processIDs
    if processes.isEmpty { try StandardOutput.write("no process has an inspector\n") }
    let outcomes = InspectorSurvey.reports(of: processes)
    for process in processes {
        switch outcomes[process] {
        case .success(let report):
            let blocked = report.loops.count(where: \.isBlocked)
            let words = "\(report.loops.count) loops\(blocked > 0 ? ", \(blocked) BLOCKED" : "")"
            try StandardOutput.write("\(process)  \(ForeignText(report.program))  \(words)\n")
        case .failure(let failure): try StandardOutput.write("\(process)  \(failure)\n")
        case nil: continue
        }
    }
}

/// Shows a new report each second, until the process or the reader of the output ends.
///
/// On a terminal, a report replaces the previous one.
func watch(_ inspector: RemoteInspector) throws {
    var earlier: ProcessReport?
    while true {
        let report = try inspector.report()
        let size = Terminal.size
        let text = report.text(since: earlier, width: size.columns)
        if StandardOutput.isTerminal {
            // The escape sequences move the cursor to the upper left corner, and clear the rest of the screen.
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            try StandardOutput.write(
                "\u{1B}[H\u{1B}[J" + lines.prefix(max(5, size.rows - 1)).joined(separator: "\n") + "\n")
        } else {
            try StandardOutput.write((earlier == nil ? "" : "\n") + text)
        }
        earlier = report
        RunLoop.current.run(until: .now + .seconds(1))
    }
}

func save(_ bytes: [UInt8], _ path: String) throws {
    if path == "-" {
        if StandardOutput.isTerminal {
            throw StandardOutput.Failure(
                description: "a recording is not for a terminal; name a file, or redirect the output")
        }
        return try StandardOutput.write(bytes)
    }
    // Safe: `open` only reads the path.
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    if descriptor < 0 { throw SystemError(call: "open", code: errno) }
    let file = OwnedDescriptor(descriptor)
    try file.descriptor.write(bytes)
}

StandardOutput.occupyClosedStreams()
SignalSource.ignoreBrokenPipes()
do {
    switch try Command(Array(CommandLine.arguments.dropFirst())) {
    case .help: try StandardOutput.write(Command.usage + "\n")
    case .list: try list()
    case .watch(let process): try watch(RemoteInspector(processID: process))
    case .report(let process, let form):
        let report = try RemoteInspector(processID: process).report()
        switch form {
        case .text: try StandardOutput.write(report.text(width: Terminal.size.columns))
        case .json: try StandardOutput.write(report.json + "\n")
        case .metrics: try StandardOutput.write(report.prometheusText)
        }
    case .save(let process, let format, let path):
        try save(RemoteInspector(processID: process).recording(as: format), path)
    case .serve(let process, let port):
        let server = try TimelineServer(RemoteInspector(processID: process), port: port)
        try StandardOutput.write("the timeline of process \(process): \(server.address)\n")
        RunLoop.current.run()
    }
} catch let mistake as Command.Mistake {
    fail(mistake.text, status: 2)
} catch {
    fail("\(error)")
}
