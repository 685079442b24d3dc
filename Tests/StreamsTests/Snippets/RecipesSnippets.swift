import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// A server that sends back each line.
private final class Server {
    private var listener: Listener?
    private var clients: [ObjectIdentifier: Connection] = [:]
    private var onDone: (() -> Void)?

    func start(at address: Listener.Address) throws {
        var options = Listener.Options()
        options.connectionLimit = 10_000
        let listener = try Listener(address, options: options)
        try RunLoop.current.add(listener, forMode: .common) { [unowned self] accepted in
            serve(Connection(accepted))
        }
        self.listener = listener
    }

    private func serve(_ client: Connection) {
        client.onFrame(.lines(upTo: 4096)) { client, line in
            client.write(line)
            // Reads no more while the peer does not take the answers.
            if !client.write("\n") { client.isReadingPaused = true }
        }
        client.onDrained { client in client.isReadingPaused = false }
        client.onEnd { [unowned self] client, _ in
            clients[ObjectIdentifier(client)] = nil
            endIfDone()
        }
        do {
            try RunLoop.current.add(client, forMode: .common)
            clients[ObjectIdentifier(client)] = client
        } catch {
            print("cannot serve a client:", error)
        }
    }

    func stop(whenDone: @escaping () -> Void) {
        listener?.invalidate()
        onDone = whenDone
        for client in clients.values { client.closeAfterWriting() }
        endIfDone()
    }

    private func endIfDone() {
        if clients.isEmpty { onDone?() }
    }
}

/// The program of the article.
private func serve(at address: Listener.Address) throws {
    let server = Server()
    try server.start(at: address)

    let stop = try GracefulStop(within: .seconds(10)) { stop in
        server.stop { stop.finish() }
    }
    try RunLoop.current.add(stop, forMode: .common)
    RunLoop.current.run()
}

/// The server of the article "Recipes".
@Suite struct RecipesSnippets {
    /// Sends lines to the server, and logs their number when all have come back.
    private static func exchange(at port: UInt16, lines count: Int, _ log: Log<Int>) throws {
        let connection = Connection(connectingTo: .tcp(host: "127.0.0.1", port: port))
        var received = 0
        connection.onFrame(.lines()) { connection, line in
            #expect(String(decoding: line, as: UTF8.self) == "line \(received)")
            received += 1
            if received == count { log.add(count) }
        }
        connection.onEnd { _, reason in
            #expect(received == count, "the server has ended a connection: \(reason)")
        }
        for number in 0..<count { connection.write("line \(number)\n") }
        try RunLoop.current.add(connection, forMode: .default)
    }

    @Test func `a server sends everything back to each client, and ends on SIGTERM`() async {
        await #expect(processExitsWith: .success) {
            try onLoopThread { _ in
                let spare = try Listener(.tcp(host: "127.0.0.1", port: 0))
                let port = try #require(spare.localAddress.port)
                spare.invalidate()
                let served = Log<Int>()
                RunLoop.current.perform {
                    do {
                        for count in [1, 100, 20_000] {
                            try RecipesSnippets.exchange(at: port, lines: count, served)
                        }
                    } catch { Issue.record(error) }
                }
                let finish = Timer(timeInterval: .milliseconds(1), repeats: true) { timer in
                    if served.entries.count < 3 { return }
                    timer.invalidate()
                    Signals.send(SIGTERM)
                }
                RunLoop.current.add(finish, forMode: .default)
                try serve(at: .tcp(host: "127.0.0.1", port: port))
                #expect(Set(served.entries) == [1, 100, 20_000])
            }
        }
    }
}
