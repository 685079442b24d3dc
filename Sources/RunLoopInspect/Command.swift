import Inspection

/// A command of the program, parsed from its arguments.
enum Command {
    case list
    case help
    /// A report that is shown repeatedly, until the inspected process ends.
    case watch(Int32)
    case report(Int32, ReportForm)
    case save(Int32, TraceFormat, path: String)
    /// A web page with the process's recent events, served to browsers on this machine.
    case serve(Int32, port: UInt16)

    enum ReportForm {
        case text
        case json
        case metrics
    }

    /// An error in the program's arguments, with a message for the user.
    struct Mistake: Error {
        let text: String
    }

    static let usage = """
        Shows what the run loops of a process are doing.

        runloop-inspect                    lists the processes that can be looked at
        runloop-inspect PID                shows a process, once a second
        runloop-inspect PID --once         shows it once
        runloop-inspect PID --json         prints a report as JSON; times are nanoseconds
        runloop-inspect PID --metrics      prints a report as Prometheus reads it
        runloop-inspect PID --html FILE    saves the last seconds as a page
        runloop-inspect PID --trace FILE   saves the last seconds for ui.perfetto.dev
        runloop-inspect PID --chrome FILE  saves the last seconds as Chrome's JSON
        runloop-inspect PID --serve [PORT] serves the page to a browser on this machine

        A FILE of - is the standard output. The process must have an Inspector, and for the last seconds a
        FlightRecorder. Only processes of the same user answer; all of them answer root.
        """

    init(_ arguments: [String]) throws(Mistake) {
        var rest = arguments[...]
        guard let first = rest.popFirst() else {
            self = .list
            return
        }
        if first == "--help" || first == "-h" {
            self = .help
            return
        }
        guard let process = Int32(first), process > 0 else {
            throw Mistake(
                text: "\"\(first)\" is not the ID of a process; call runloop-inspect alone for a list")
        }
        let option = rest.popFirst()
        switch option {
        case nil: self = .watch(process)
        case "--once": self = .report(process, .text)
        case "--json": self = .report(process, .json)
        case "--metrics": self = .report(process, .metrics)
        case "--html": self = .save(process, .page, path: try Command.file(&rest, "--html"))
        case "--trace": self = .save(process, .perfetto, path: try Command.file(&rest, "--trace"))
        case "--chrome": self = .save(process, .chromeJSON, path: try Command.file(&rest, "--chrome"))
        case "--serve":
            let text = rest.popFirst() ?? "0"
            guard let port = UInt16(text) else {
                throw Mistake(text: "\"\(text)\" is not a port; use 0 to 65535")
            }
            self = .serve(process, port: port)
        case let option?: throw Mistake(text: "there is no option \(option); --help names them all")
        }
        if let extra = rest.first {
            throw Mistake(text: "\(extra) is one argument too many; --help shows the calls")
        }
    }

    private static func file(_ rest: inout ArraySlice<String>, _ option: String) throws(Mistake) -> String {
        guard let path = rest.popFirst() else {
            throw Mistake(text: "\(option) needs the name of a file, or -")
        }
        return path
    }
}
