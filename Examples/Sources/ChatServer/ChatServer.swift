import RunLoops
import ServerSupport
import Streams

/// A chat that sends each line of a member to all members, with the member's number.
///
/// The members are spread over several loops. A member that reads too slowly is disconnected, so that the other members do not
/// wait, and the memory stays bounded. `SIGTERM` stops the server after it has delivered all lines.
@main struct ChatServer {
    static let usage = """
        usage: chat-server [--host 127.0.0.1] [--port 7000] [--workers 2] [--output-limit 1048576] [--stop-time 10]

          --workers       threads that serve members
          --output-limit  unsent bytes at which a member that reads too slowly is disconnected
          --stop-time     seconds that SIGTERM leaves to deliver what was said
        exits with 0 after SIGTERM, and with 1 if members were left when the time was over
        As a service of systemd, it takes over the socket of its socket unit, and ignores --host and --port then.
        """

    static func main() { runProgram { try run() } }

    private static func run() throws {
        var arguments = Arguments(usage: usage)
        var options = Connection.Options()
        let host = arguments.text("host", default: "127.0.0.1")
        let port = arguments.port(default: 7000)
        let workers = arguments.integer("workers", default: 2, in: 1...64)
        options.outputLimit = arguments.integer("output-limit", default: 1 << 20, in: 1...(1 << 30))
        let time = arguments.integer("stop-time", default: 10, in: 0...3600)
        arguments.finish()
        raiseDescriptorLimit()

        let listener = try Listener.ofService(or: .tcp(host: host, port: port))
        let group = try RunLoopThreadGroup(count: workers, name: "worker")
        let rooms = group.threads.map { Room(on: $0.runLoop) }
        var count = 0
        try RunLoop.current.add(listener, forMode: .default) { accepted in
            count += 1
            let (number, socket, options) = (count, accepted.boxed(), options)
            rooms[number % rooms.count].perform { $0.join(socket, options, number, rooms) }
        }
        try GracefulStop.serving(finishingWithin: .seconds(time)) { stop in
            listener.stop { _ in stop.finish() }
            Task {
                // First, the rooms stop reading. Then each room has the lines of all, and writes them before it closes.
                for room in rooms { await room.stopReading() }
                for room in rooms { await room.close() }
            }
        }
        ServiceManager.reportReady(listeningAt: listener.localAddress)
        RunLoop.current.run()
    }
}
