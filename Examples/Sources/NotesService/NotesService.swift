import Glibc
import HTTPServers
import MessagePorts
import NoteStorage
import RunLoops
import ServerSupport
import Streams
import Succession

/// A JSON service of notes, with a page that shows new notes as they arrive.
@main struct NotesService {
    static let usage = """
        usage: notes-service [--host 127.0.0.1] [--port 7003] [--database notes.db] [--name org.example.notes] [--stop-time 30]

          --database   the file of SQLite, or :memory:
          --name       the name by which a new service finds the old one; a new one takes over its socket, and ignores --port
          --stop-time  seconds that requests have to end, after SIGTERM or when a new service has taken over
        GET / is a page for browsers, GET /notes lists notes, POST /notes adds the body as one, GET /events sends them as they come,
        GET /health and GET /metrics tell how the service is.
        """

    static func main() { runProgram { try run() } }

    private static func run() throws {
        var arguments = Arguments(usage: usage)
        let host = arguments.text("host", default: "127.0.0.1")
        let port = arguments.port(default: 7003)
        let database = arguments.text("database", default: "notes.db")
        let name = try PortName(arguments.text("name", default: "org.example.notes"))
        let time = arguments.integer("stop-time", default: 30, in: 0...3600)
        arguments.finish()

        raiseDescriptorLimit()
        let storage = try RunLoopThread(name: "storage")
        let reports = try RunLoopThread(name: "reports")
        let store = NoteStore(on: storage.runLoop)
        let routes = Routes(store, reports.runLoop)
        let succession = try Succession(name)
        let server =
            switch try succession.socketOfPredecessor() {
            case .some(let socket): try HTTPServer(socket)
            case nil: try HTTPServer(.tcp(host: host, port: port))
            }
        try RunLoop.current.add(server, forMode: .default, handler: routes.answer)
        routes.open(database)
        let stop = try GracefulStop.serving(finishingWithin: .seconds(time)) { stop in
            succession.end()
            routes.endEvents()
            server.stop(within: .seconds(time)) { _ in stop.finish() }
        }
        try succession.serve(
            socket: { try server.duplicateSocket() },
            onReady: { announce("\(getpid()) listening at \(server.localAddress)") },
            onSuccession: {
                log("\(getpid()) has a successor")
                stop.begin()
            })
        RunLoop.current.run()
        try storage.runLoop.performAndWait { store.assumeIsolated { $0.close() } }
        for thread in [storage, reports] {
            thread.stop()
            thread.join()
        }
    }
}
