import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

@testable import HTTPServers

/// Servers that run out of something, and peers that ask for too much of it.
@Suite(.serialized) struct ServerLoadTests {
    /// The listener looks again when time has passed, and not only when something happens.
    @Test func `a server that was out of descriptors answers again, however its connections end`() async {
        await #expect(processExitsWith: .success) {
            try limitDescriptors(to: 60)
            try withServer { server in
                for round in 1...3 {
                    let refused = try server.perform { $0.listener.statistics.refusedForDescriptors }
                    // Some of them wait in the backlog, because the process is out of descriptors.
                    let crowd = Crowd(of: 200, at: server.port)
                    waitUntil("the process is out of descriptors") {
                        (try? server.perform { $0.listener.statistics.refusedForDescriptors }) ?? 0 > refused
                    }
                    // All connections end while the loop is busy, so it finds their ends in one pass.
                    try server.perform { _ in crowd.end() }
                    // The client is in this process, too, and needs a descriptor. A deaf server answers never.
                    let limit = ContinuousClock.now + .seconds(60)
                    while (try? ServerLoadTests.greeting(server.port)) != "Hello, world!" {
                        if .now > limit { throw Deaf(round: round) }
                    }
                }
            }
        }
    }

    @Test func `a server at its limit answers the next client without another event`() throws {
        var options = HTTPServer.Options()
        options.connectionLimit = 20
        try withServer(options) { server in
            for _ in 0..<3 {
                let clients = try (0..<20).map { _ in try Client(server.port) }
                waitUntil("the limit is reached") { (try? server.perform { $0.connectionCount }) == 20 }
                let late = try Client(server.port)
                late.send(request("GET /"))
                // All of them end while the loop is busy, so it finds them in one pass.
                try server.perform { _ in for client in clients { client.close() } }
                #expect(late.answer().body == "Hello, world!")
            }
        }
    }

    @Test func `more than a thousand connections end in one pass, and the next request is answered`() throws {
        try withServer { server in
            let crowd = Crowd(of: 1_100, at: server.port)
            waitUntil("the limit is reached") { (try? server.perform { $0.connectionCount }) == 1_000 }
            try server.perform { _ in crowd.end() }
            for _ in 0..<8 {
                let client = try Client(server.port)
                client.send(request("GET /"))
                #expect(client.answer().body == "Hello, world!")
            }
            waitUntil("no connection is left") { (try? server.perform { $0.connectionCount }) == 0 }
        }
    }

    /// The requests that a client sends ahead wait as bytes, and each is a step of the pass.
    @Test
    func
        `a client that sends ten thousand requests ahead gets all responses in order, and others are served between`()
        throws
    {
        let order = Log<Int>()
        try withServer(handler: { exchange in
            order.add(exchange.request.target == "/other" ? -1 : 1)
            exchange.respond(.text(exchange.request.target))
        }) { server in
            let greedy = try Client(server.port)
            let gate = Gate()
            try RunLoopThread.detach(name: "greedy") { _ in
                greedy.send((0..<10_000).map { request("GET /\($0)") }.joined())
                gate.open()
            }
            for _ in 0..<50 {
                let client = try Client(server.port)
                client.send(request("GET /other"))
                #expect(client.answer().body == "/other")
            }
            for number in 0..<10_000 { #expect(greedy.answer().body == "/\(number)") }
            #expect(gate.wait())
        }
        // The others did not have to wait for the end of the greedy one.
        let first = order.entries.firstIndex(of: -1) ?? 0
        #expect(order.entries.count == 10_050 && first < 10_000)
    }

    @Test func `what a client sends ahead is bounded while its request is not answered`() throws {
        let exchanges = Shared()
        let kept = Kept()
        try withServer(handler: { exchange in
            exchanges.increment()
            kept.exchanges.append(exchange)
        }) { server in
            let client = try Client(server.port)
            let isSent = Shared()
            try RunLoopThread.detach(name: "ahead") { _ in
                client.send(String(repeating: request("GET /"), count: 300_000))
                isSent.increment()
            }
            waitUntil("the first request is there") { exchanges.count == 1 }
            // A round trip of another client gives the server time to read more, if it does.
            for _ in 0..<20 {
                let other = try Client(server.port)
                other.send("GET / nonsense\r\n\r\n")
                _ = other.rest()
            }
            #expect(exchanges.count == 1 && isSent.count == 0)
            // A send that waits in another thread would keep the socket open.
            client.endSending()
            waitUntil("the sender has returned") { isSent.count == 1 }
            client.reset()
            waitUntil("the end is noticed") { (try? server.perform { $0.connectionCount }) == 0 }
            try server.perform { _ in
                #expect(kept.exchanges.allSatisfy { !$0.isOpen })
                kept.exchanges = []
            }
        }
    }

    @Test func `each request is recorded once, also if the server has refused it`() throws {
        let records = Log<String>()
        var options = HTTPServer.Options()
        options.bodyLimit = 10
        try withServer(
            options,
            setUp: { server in
                server.onRequestEnd { _, record in
                    records.add("\(record) \(record.sentByteCount) \(record.isRefused ? "refused" : "")")
                    #expect(record.peerAddress.host == "127.0.0.1" && record.duration >= .zero)
                }
            },
            handler: { exchange in
                if exchange.request.target == "/cancel" { return exchange.cancel() }
                exchange.respond(.text("four"))
            }
        ) { server in
            for (text, count) in [
                (request("GET /1") + request("HEAD /2"), 2),
                (request("POST /3", "Content-Length: 11") + "x", 3),
                ("nonsense\u{0}\r\n\r\n", 4), (request("GET /cancel"), 5), ("GET / HTTP/1.1\r\n\r\n", 6),
                (request("POST /7", "Transfer-Encoding: chunked") + "b\r\n01234567890\r\n", 7),
                ("GET /8 HTTP/1.1\r\nHost", 8),
            ] {
                let client = try Client(server.port)
                client.send(text)
                client.endSending()
                _ = client.rest()
                waitUntil("it is recorded") { records.entries.count >= count }
            }
            #expect(
                records.entries == [
                    "GET \"/1\": 200, sent 4 ", "HEAD \"/2\": 200, sent 0 ",
                    "POST \"/3\": 413, sent 0 refused",
                    "no request: 400, sent 0 refused", "GET \"/cancel\": no response, cancelled 0 ",
                    "GET \"/\": 400, sent 0 refused", "POST \"/7\": 413, sent 0 refused",
                    "no request: no response, the client has left 0 ",
                ])
        }
    }

    /// Asks a server on a new connection.
    private static func greeting(_ port: UInt16) throws -> String {
        let client = try Client(port)
        client.send(request("GET /"))
        return client.answer().body
    }

    private struct Deaf: Error { let round: Int }

    /// Many idle connections of another process, which end together.
    private struct Crowd {
        private let child: Child

        init(of count: Int, at port: UInt16) {
            child = Child(
                shell: """
                    exec bash -c 'ulimit -S -n $(ulimit -H -n); for i in $(seq \(count)); do
                    exec {fd}<>/dev/tcp/127.0.0.1/\(port) || exit 1; done; sleep 300'
                    """)
        }

        func end() {
            kill(child.processID, SIGKILL)
            child.wait()
        }
    }

    /// Exchanges that a test keeps.
    ///
    /// `@unchecked`: only the thread of the server uses them.
    private final class Kept: @unchecked Sendable { var exchanges: [HTTPExchange] = [] }
}
