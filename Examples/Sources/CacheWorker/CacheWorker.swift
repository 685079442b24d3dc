import CacheWorkers
import DistributedNotifications
import MessagePorts
import ServerSupport

/// One of several processes of a machine that cache users, and forget users that another process has changed.
@main struct CacheWorker {
    static let usage = """
        usage: cache-worker --database DIRECTORY [--name cache]

          --database  the directory with a file for each user, which all workers share
          --name      the name of the hub that the workers meet at
        commands on standard input: get USER, set USER NAME
        exits with 0 at the end of the input
        """

    static func main() {
        runProgram {
            try runWorker(usage: usage) { arguments in
                .hub(named: try PortName(arguments.text("name", default: "cache")))
            }
        }
    }
}
