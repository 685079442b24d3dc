import Glibc
import MessagePorts
import RunLoops
import ServerSupport
import Streams
import Succession

/// An echo server that a new process replaces without refusing a client.
///
/// Start the program again, and the old process ends when its clients have left.
@main struct RestartingServer {
    static let usage = """
        usage: restarting-server [--host 127.0.0.1] [--port 7002] [--name org.example.echo] [--stop-time 60]

          --name       the name by which a new server finds the old one; a new one takes over its socket, and ignores --port
          --stop-time  seconds that clients have to leave, after SIGTERM or when a new server has taken over
        exits with 0 when all clients have left, and with 1 if some were left when the time was over
        """

    static func main() { runProgram { try run() } }

    private static func run() throws {
        var arguments = Arguments(usage: usage)
        let host = arguments.text("host", default: "127.0.0.1")
        let port = arguments.port(default: 7002)
        let name = try PortName(arguments.text("name", default: "org.example.echo"))
        let time = arguments.integer("stop-time", default: 60, in: 0...3600)
        arguments.finish()

        raiseDescriptorLimit()
        let succession = try Succession(name)
        let listener =
            switch try succession.socketOfPredecessor() {
            case .some(let socket): try Listener(socket)
            case nil: try Listener(.tcp(host: host, port: port))
            }
        let server = try EchoServer(listener)
        let stop = try GracefulStop.serving(finishingWithin: .seconds(time)) { stop in
            succession.end()
            server.stopAccepting { stop.finish() }
        }
        try succession.serve(
            socket: { try server.duplicateSocket() },
            onReady: { announce("\(ProcessNumber.current) listening at \(server.address)") },
            onSuccession: {
                log("\(ProcessNumber.current) has a successor")
                stop.begin()
            })
        RunLoop.current.run()
    }
}

/// The number of this process.
enum ProcessNumber {
    static let current = getpid()
}
