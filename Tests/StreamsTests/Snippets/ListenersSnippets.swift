import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// The code of the article "Listeners".
@Suite struct ListenersSnippets {
    private let print = Printed()

    @Test func `listeners listen at three kinds of places`() throws {
        let path = try ScratchDirectory().path + "/server"
        let everywhere = try Listener(.tcp(port: 0))
        let here = try Listener(.tcp(host: "127.0.0.1", port: 0))
        let local = try Listener(.unix(path: path))
        #expect(everywhere.localAddress.port != 0)
        #expect(here.localAddress.host == "127.0.0.1")
        #expect(local.localAddress.path == path)
    }

    @Test func `a listener has limits`() throws {
        var options = Listener.Options()
        options.connectionLimit = 10_000
        options.connectionLimitPerPeer = 100
        let listener = try Listener(.tcp(port: 0), options: options)
        #expect(listener.options.connectionLimit == 10_000)
    }

    @Test func `a listener reports when its connections have ended`() throws {
        try onLoopThread { [print] loop in
            var waiting: [Connection] = []
            func stopServing(_ listener: Listener, then finish: @escaping () -> Void) {
                listener.stop { _ in finish() }
                for connection in waiting { connection.closeAfterWriting() }
            }
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            try loop.add(listener, forMode: .default) { accepted in
                let connection = Connection(accepted)
                recorded { try loop.add(connection, forMode: .default) }
                waiting.append(connection)
            }
            let client = try Loopback.connect(to: try #require(listener.localAddress.port))
            loop.run(until: "the connection is accepted") { waiting.count == 1 }
            stopServing(listener) { print("stopped") }
            #expect(print.lines == [])
            Loopback.close(client)
            loop.run(until: "the stop is reported") { print.lines == ["stopped"] }
        }
    }

    @Test func `one loop accepts for others`() throws {
        let served = Log<String>()
        @Sendable func serve(_ connection: Connection) {
            served.add(RunLoop.current.name)
            connection.onEnd { _, _ in }
            do { try RunLoop.current.add(connection, forMode: .default) } catch { Issue.record(error) }
        }
        try onLoopThread { loop in
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            let workers = try RunLoopThreadGroup(count: 2, name: "worker")
            try RunLoop.current.add(listener, forMode: .default) { accepted in
                accepted.perform(on: workers.next()) { accepted in serve(Connection(accepted)) }
            }
            let clients = try (0..<4).map { _ in
                try Loopback.connect(to: try #require(listener.localAddress.port))
            }
            let end = ContinuousClock.Instant.hang
            while served.entries.count < 4 && ContinuousClock.now < end {
                loop.run(until: .now + .milliseconds(5))
            }
            #expect(served.entries.sorted() == ["worker 0", "worker 0", "worker 1", "worker 1"])
            withExtendedLifetime(clients) {}
            listener.invalidate()
            workers.stop()
            workers.join()
        }
    }
}
