internal import ArgumentParser

/// Measures the run loops of this package against the kernel, plain C, Foundation, Dispatch and SwiftNIO.
@main
struct RunLoopBench: ParsableCommand {
    /// The families of measurements, in the order in which `all` takes them.
    static let families: [any Family.Type] = [
        LatencyFamily.self, ThroughputFamily.self, NotificationsFamily.self, ExecutorsFamily.self,
        TimersFamily.self, FairnessFamily.self, ScaleFamily.self, PortsFamily.self,
    ]

    static let configuration = CommandConfiguration(
        commandName: "runloop-bench",
        abstract: "How fast the run loops are, as ratios to this machine's own limits and to other loops.",
        discussion: "Times are compared within one run only. The program fails if a count misses its "
            + "target or a message is lost, never because something took long.",
        subcommands: families.map { $0.command } + [
            AllCommand.self, SoakCommand.self, ServePacketsCommand.self, BurnCommand.self,
            HopsCommand.self,
        ],
        defaultSubcommand: AllCommand.self)
}
