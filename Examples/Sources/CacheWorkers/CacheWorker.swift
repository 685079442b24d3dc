import DistributedNotifications
import Glibc
import MessagePorts
import RunLoops
import ServerSupport

/// One of several processes that cache users, and forget those that another process has changed.
@main struct CacheWorker {
    static let usage = """
        usage: cache-worker --database DIRECTORY [--name cache]

          --database  the directory with a file for each user, which all workers share
          --name      the name of the hub that the workers meet at
        commands on standard input: get USER, set USER NAME
        exits with 0 at the end of the input
        """

    static func main() { runProgram { try run() } }

    private static func run() throws {
        var arguments = Arguments(usage: usage)
        let database = arguments.text("database", default: "")
        let name = arguments.text("name", default: "cache")
        arguments.finish()
        if database.isEmpty { arguments.exitWithUsage("--database is empty") }

        // On several machines, this line names another engine.
        let center = try DistributedNotificationCenter(.hub(named: PortName(name)))
        let users = Users(database: database, center: center)
        users.begin()
        let commands = Commands { command in users.perform(command) }
        try commands.begin()
        RunLoop.current.run()
        center.invalidate()
    }
}
