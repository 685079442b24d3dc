import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Connections that are released before they were added to a loop.
///
/// Each test has a process of its own, because the reports of all connections of a process go to one place.
@Suite struct ForgottenConnectionTests {
    /// The reports of this process, which are made on a thread of their own.
    private struct Reports: Sendable {
        private let entries = Log<String>()

        init() {
            RunLoopDiagnostics.handler = { [entries] in entries.add($0) }
        }

        /// Returns the reports, once one about a connection that is made here has followed them.
        func all() -> [String] {
            _ = Connection(connectingTo: .tcp(host: "last.example", port: 80))
            waitUntil("the last one is reported") { entries.entries.contains { $0.contains("last.example") } }
            return entries.entries.filter { !$0.contains("last.example") }
        }
    }

    @Test
    func `an accepted connection that is never added to a loop is reported, with its peer and its place`()
        async
    {
        await #expect(processExitsWith: .success) {
            let reports = Reports()
            try onLoopThread { loop in
                let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
                var count = 0
                try loop.add(listener, forMode: .default) { accepted in
                    _ = Connection(accepted, line: 4_711)
                    count += 1
                }
                let client = try Loopback.connect(to: try #require(listener.localAddress.port))
                loop.run(until: "the connection is accepted") { count == 1 }
                Loopback.close(client)
                listener.invalidate()
            }
            let all = reports.all()
            try #require(all.count == 1)
            #expect(all[0].hasPrefix("Connection: the connection with 127.0.0.1:"))
            let says =
                "made at StreamsTests/ForgottenConnectionTests.swift:4711 was released before it was added to a loop; add it"
            #expect(all[0].contains(says))
        }
    }

    @Test func `a connection that is never made is reported, too`() async {
        await #expect(processExitsWith: .success) {
            let reports = Reports()
            _ = Connection(connectingTo: .tcp(host: "example.com", port: 80))
            let says = "Connection: the connection to example.com:80 made at"
            #expect(reports.all().map { $0.hasPrefix(says) } == [true])
        }
    }

    @Test func `a connection that was closed, added, or added to a loop that has ended is not reported`()
        async
    {
        await #expect(processExitsWith: .success) {
            let reports = Reports()
            let pair = try Pair()
            pair.connection.close()
            try onLoopThread { loop in
                let added = try Pair()
                try loop.add(added.connection, forMode: .default)
                loop.remove(added.connection)
                var late: Pair? = try Pair()
                loop.addEndHandler { [late] in
                    if let late { recorded { try loop.add(late.connection, forMode: .default) } }
                }
                late = nil
            }
            // Another report says that the loop of that thread has never run.
            #expect(reports.all().filter { $0.contains("released before") } == [])
        }
    }
}
