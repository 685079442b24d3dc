import RunLoops
import ServerSupport
import Streams

/// A chat that sends each line of a member to all members, with the member's number.
///
/// The members are spread over several loops. A member that reads too slowly is disconnected, so that the other members do not
/// wait, and the memory stays bounded. `SIGTERM` stops the server after it has delivered all lines.
@main struct ChatServer {
    static let usage = """
        usage: chat-server [--host 127.0.0.1] [--port 7000] [--workers 2] [--queue-limit 10000]
                           [--members 10000] [--output-limit 1048576] [--write-timeout 30]
                           [--stop-time 10] [--log-ends 0]

          --workers        threads that serve members
          --queue-limit    lines that a worker may be behind before members that write have to wait
          --members        the most members at a time; others wait until one leaves
          --output-limit   unsent bytes at which a member that reads too slowly is disconnected
          --write-timeout  seconds after which a member that reads nothing at all is disconnected
          --stop-time      seconds that SIGTERM leaves to deliver what was said
          --log-ends       1 to log the end of each member, with its reason
        exits with 0 after SIGTERM, and with 1 if members were left when the time was over
        As a service of systemd, it takes over the socket of its socket unit, and ignores --host and --port then.
        """

    static func main() { runProgram { try run() } }

    private static func run() throws {
        var arguments = Arguments(usage: usage)
        var connection = Connection.Options()
        connection.outputLimit = arguments.integer("output-limit", default: 1 << 20, in: 1...(1 << 30))
        connection.writeTimeout = .seconds(arguments.integer("write-timeout", default: 30, in: 1...3600))
        let settings = Server.Settings(
            host: arguments.text("host", default: "127.0.0.1"),
            port: arguments.port(default: 7000),
            workers: arguments.integer("workers", default: 2, in: 1...64),
            queueLimit: arguments.integer("queue-limit", default: 10_000, in: 1...1_000_000),
            members: arguments.integer("members", default: 10_000, in: 1...1_000_000),
            connection: connection,
            logsEnds: arguments.integer("log-ends", default: 0, in: 0...1) == 1)
        let time = arguments.integer("stop-time", default: 10, in: 0...3600)
        arguments.finish()

        raiseDescriptorLimit()
        let server = try Server(settings)
        try GracefulStop.serving(finishingWithin: .seconds(time)) { stop in
            ServiceManager.notify("STOPPING=1")
            server.stop { stop.finish() }
        }
        announce("listening at \(server.address)")
        ServiceManager.notify("READY=1")
        ServiceManager.reportLiveness()
        withExtendedLifetime(server) { RunLoop.current.run() }
    }
}
