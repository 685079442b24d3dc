internal import ArgumentParser

/// The options of every sub-command.
struct SharedOptions: ParsableArguments {
    @Flag(help: "Fewer and shorter rounds: a rough answer soon.")
    var quick = false

    @Option(help: "How often each measurement is repeated, interleaved with all others.")
    var rounds: Int?

    @Option(
        help: "The processors to use, such as 0,2; the first is the measuring side's.", transform: processors)
    var cpus: [Int32] = []

    @Option(help: "Write all figures to this file, or to standard output if it is -.")
    var json: String?

    @Option(help: "Write a page with charts to this file.")
    var html: String?

    func validate() throws {
        if let rounds, rounds < 1 { throw ValidationError("--rounds must be at least 1") }
        let usable = Machine.usableProcessors
        if Set(cpus).count < cpus.count || !Set(cpus).isSubset(of: usable) {
            let list = usable.map(String.init).joined(separator: ",")
            throw ValidationError("--cpus takes each processor once, of those this process may use: \(list)")
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
        try report.write(json: json, html: html)
        // A time never fails the program: it is the machine's as much as ours.
        if !report.failures.isEmpty { throw ExitCode.failure }
    }

    private static func processors(_ text: String) throws -> [Int32] {
        try text.split(separator: ",").map { part in
            guard let number = Int32(part), number >= 0 else {
                throw ValidationError("--cpus takes numbers between commas, such as 0,2")
            }
            return number
        }
    }
}
