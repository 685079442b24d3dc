import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// The code of the article "Listeners".
@Suite struct ListenersSnippets {
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
        options.connectionLimitOfPeer = 100
        let listener = try Listener(.tcp(port: 0), options: options)
        #expect(listener.options.connectionLimit == 10_000)
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
            let workers = try (0..<2).map { try RunLoopThread(name: "worker \($0)") }
            var next = 0
            try RunLoop.current.add(listener, forMode: .default) { accepted in
                let box = accepted.boxed()
                next = (next + 1) % workers.count
                workers[next].runLoop.perform {
                    guard let accepted = box.take() else { return }
                    serve(Connection(accepted))
                }
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
            for worker in workers {
                worker.stop()
                worker.join()
            }
        }
    }
}
