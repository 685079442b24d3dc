public import DistributedNotifications
import RunLoops
public import ServerSupport

/// Runs a worker until the end of its input.
///
/// - Parameters:
///   - usage: The text that a mistake in the arguments prints.
///   - engine: A closure that takes its options from the arguments, and returns the engine that connects the workers.
/// - Throws: The error of the engine, or of the kernel.
public func runWorker(
    usage: String, engine: (inout Arguments) throws -> DistributedNotificationEngine
) throws {
    var arguments = Arguments(usage: usage)
    let database = arguments.text("database", default: "")
    let chosen = try engine(&arguments)
    arguments.finish()
    if database.isEmpty { arguments.exitWithUsage("--database is empty") }

    let center = try DistributedNotificationCenter(chosen)
    let users = Users(database: database, center: center)
    users.begin()
    let commands = Commands { command in users.perform(command) }
    try commands.begin()
    RunLoop.current.run()
    center.invalidate()
}
