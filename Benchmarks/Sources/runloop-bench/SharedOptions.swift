internal import ArgumentParser

/// The options of every sub-command.
struct SharedOptions: ParsableArguments {
    @Flag(help: "Run fewer and shorter rounds, for rough figures soon.")
    var quick = false

    @Option(help: "The number of rounds. Each round takes all measurements in turn.")
    var rounds: Int?

    @Option(
        help: "The processors to use, such as 0,2. The measuring side runs on the first.",
        transform: processors)
    var cpus: [Int32] = []

    @Option(help: "Write all figures to this file, or to standard output if it is -.")
    var json: String?

    @Option(help: "Write a page with charts to this file.")
    var html: String?

    @Option(help: "Write one chart of the comparisons with other loops to this file.")
    var svg: String?

    func validate() throws {
        if let rounds, rounds < 1 { throw ValidationError("--rounds must be at least 1") }
        let usable = Machine.usableProcessors
        if Set(cpus).count < cpus.count || !Set(cpus).isSubset(of: usable) {
            let list = usable.map(String.init).joined(separator: ",")
            throw ValidationError(
                "--cpus takes processors that this process may use, each at most once: \(list)")
        }
    }

    /// Measures, writes the report, and fails if a count missed its target or a message was lost.
    func report(_ measure: (Session) throws -> [Chapter]) throws {
        let machine = Machine(using: cpus)
        let session = Session(
            machine: machine, isQuick: quick, rounds: rounds ?? (quick ? 7 : 25), progress: Progress())
        var report = Report(machine: machine)
        report.chapters = try measure(session)
        session.progress.end()
        try report.write(json: json, html: html, svg: svg)
        // A time never makes the program fail, because times depend on the machine.
        if !report.failures.isEmpty { throw ExitCode.failure }
    }

    private static func processors(_ text: String) throws -> [Int32] {
        try text.split(separator: ",").map { part in
            guard let number = Int32(part), number >= 0 else {
                throw ValidationError("--cpus takes numbers separated by commas, such as 0,2")
            }
            return number
        }
    }
}
