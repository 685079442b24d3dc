internal import ArgumentParser

/// Measures the run loops of this package against the kernel, plain C, Foundation, Dispatch and SwiftNIO.
@main
struct RunLoopBench: ParsableCommand {
    /// The families of measurements, in the order of `all`.
    static let families: [any Family.Type] = [
        LatencyFamily.self, ThroughputFamily.self, NotificationsFamily.self, ExecutorsFamily.self,
        TimersFamily.self, FairnessFamily.self, ScaleFamily.self, PortsFamily.self,
        NetworkingFamily.self, WebFamily.self, DistributedFamily.self, RecordingFamily.self,
    ]

    static let configuration = CommandConfiguration(
        commandName: "runloop-bench",
        abstract: "Measures run loops as ratios to the limits of this machine and to other loops.",
        discussion: "Times are compared within one run only. The program fails if a count misses its "
            + "target or a message is lost, never because something took long.",
        subcommands: families.map { $0.command } + [
            AllCommand.self, CompareCommand.self, ServePacketsCommand.self, BurnCommand.self,
            CostCommand.self, ServeCommand.self, GreedyCommand.self,
        ],
        defaultSubcommand: AllCommand.self)
}

/// A group of measurements that share a sub-command.
///
/// The properties of a family are the options of the sub-command.
///
/// A new family also needs an entry in ``RunLoopBench/families``.
protocol Family: ParsableArguments {
    /// The name of the sub-command.
    static var name: String { get }
    /// One sentence for the help page.
    static var summary: String { get }

    /// Runs all measurements of the family.
    func measure(in session: Session) throws -> Chapter
}

extension Family {
    /// The sub-command that measures this family alone.
    static var command: any ParsableCommand.Type { FamilyCommand<Self>.self }
}

/// The sub-command that measures one family.
struct FamilyCommand<Measured: Family>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: Measured.name, abstract: Measured.summary)
    }

    @OptionGroup var options: SharedOptions
    @OptionGroup var family: Measured

    func run() throws {
        try options.report { session in [try family.measure(in: session)] }
    }
}

/// The sub-command that measures every family with its default options.
struct AllCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "all", abstract: "Measure everything, in under two minutes.")

    @OptionGroup var options: SharedOptions

    func run() throws {
        try options.report { session in
            try RunLoopBench.families.map { family in
                try family.parse([]).measure(in: session)
            }
        }
    }
}
