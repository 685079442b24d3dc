import HTTPServers
import RunLoops
import ServerSupport
import Streams
import Synchronization

/// A server that lives on one of the loops.
///
/// Each server has a socket of its own on the same port, and the kernel gives each connection to one of them.
actor Site: RunLoopActor {
    nonisolated let runLoop: RunLoop
    private let number: Int
    private let counter: Counter
    private var server: HTTPServer?

    init(on runLoop: RunLoop, number: Int, _ counter: Counter) {
        self.runLoop = runLoop
        self.number = number
        self.counter = counter
    }

    /// Serves a port, and returns it.
    func serve(_ host: String, _ port: UInt16) throws -> UInt16 {
        var options = HTTPServer.Options()
        options.reusesPort = true
        let server = try HTTPServer(.tcp(host: host, port: port), options: options)
        try runLoop.add(server, forMode: .default) { [number, counter] exchange in
            exchange.respond(.text("loop \(number), request \(counter.next())\n"))
        }
        self.server = server
        return server.localAddress.port ?? port
    }

    /// Answers the requests that have begun, and then reports the end.
    func stop(within limit: Duration, reportingTo ends: Port<Int>) {
        server?.stop(within: limit) { [number] _ in
            do { try ends.send(number) } catch { log("the main thread has ended before: \(error)") }
        }
    }
}

/// A number that all loops share.
final class Counter: Sendable {
    private let value = Atomic(0)

    /// The next number, from 1.
    func next() -> Int { value.add(1, ordering: .relaxed).newValue }
}
