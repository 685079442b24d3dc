import HTTPServers
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Clients that violate the protocol, or try to exhaust the server.
@Suite struct BadRequestTests {
    /// Sends bytes, and expects one of the statuses, where an empty status is the end of the connection without an answer.
    private func expect(
        _ statuses: String..., for text: String, _ server: Serving,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) throws {
        let client = try Client(server.port)
        client.send(text)
        client.endSending()
        let answer = client.rest()
        let isRight = statuses.contains { $0.isEmpty ? answer.isEmpty : answer.hasPrefix("HTTP/1.1 \($0) ") }
        #expect(
            isRight, "\(text.prefix(90).debugDescription): \(answer.prefix(60))",
            sourceLocation: sourceLocation)
        // The server remains usable.
        let other = try Client(server.port)
        other.send(request("GET /good"))
        #expect(other.answer().body == "Hello, world!", sourceLocation: sourceLocation)
    }

    // Guarantees: A request that a proxy could take for two requests is refused.
    @Test func `a request that could be taken for two is refused`() throws {
        try withServer { server in
            let two = "Content-Length: 3"
            for fields in [
                [two, "Content-Length: 4"], [two, two], [two, "Transfer-Encoding: chunked"],
                ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], ["Content-Length : 3"],
                ["Content-Length: +3"], ["Content-Length: 0x3"], ["Content-Length: -3"],
                ["Content-Length: 3, 3"],
                ["X Y: 1"], ["Host: other"],
            ] {
                let head = (["POST / HTTP/1.1", "Host: localhost"] + fields).joined(separator: "\r\n")
                try expect("400", for: head + "\r\n\r\nabc0\r\n\r\n", server)
            }
            try expect("400", for: "GET / HTTP/1.1\r\n\r\n", server)
            // The parser refuses some of these requests itself.
            try expect("501", "400", for: request("POST /", "Transfer-Encoding: gzip") + "x", server)
            try expect(
                "501", "400", for: request("POST /", "Transfer-Encoding: gzip, chunked") + "0\r\n\r\n", server
            )
            try expect("413", for: request("POST /", "Content-Length: 9000000000000000000") + "x", server)
        }
    }

    /// The parser takes these protocols, and reports their versions as versions of HTTP.
    @Test func `a request of another protocol is refused, whatever its version`() throws {
        try withServer { server in
            for line in [
                "GET / RTSP/1.0", "GET / RTSP/1.1", "OPTIONS / RTSP/1.0", "SOURCE /a ICE/1.0",
                "POST / RTSP/1.0",
            ] {
                for begin in ["", "\r\n"] {
                    try expect("505", "400", for: "\(begin)\(line)\r\nHost: a\r\n\r\n", server)
                }
            }
            // An empty line before a request is ignored.
            let client = try Client(server.port)
            client.send("\r\n" + request("GET /good"))
            #expect(client.answer().body == "Hello, world!")
        }
    }

    /// The end of a stream can arrive together with bytes.
    @Test func `a client that ends its stream in a header is noticed`() throws {
        var options = HTTPServer.Options()
        options.headerTimeout = .seconds(1)
        try withServer(options) { server in
            let other = try Client(server.port)
            for text in ["GET / HT", request("GET /").dropLast(2) + ""] {
                let client = try Client(server.port)
                client.send(text)
                client.endSending()
                #expect(client.rest() == "")
            }
            #expect(try server.perform { $0.statistics.slowConnections } == 0)
            other.close()
        }
    }

    @Test func `nonsense is refused, or the connection is closed`() throws {
        var options = HTTPServer.Options()
        options.headerTimeout = .seconds(1)
        try withServer(options) { server in
            for body in [
                "FFFFFFFFFFFFFFFFFF\r\nabc\r\n", "zz\r\nabc\r\n", "3\r\nabcde\r\n0\r\n\r\n", "-1\r\n\r\n",
            ] {
                try expect("400", for: request("POST /", "Transfer-Encoding: chunked") + body, server)
            }
            try expect("505", for: "GET / HTTP/9.9\r\nHost: a\r\n\r\n", server)
            for text in [
                "nonsense\r\n\r\n", "\0\0\0\0\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}",
                "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            ] {
                let client = try Client(server.port)
                client.send(text)
                client.endSending()
                let answer = client.rest()
                #expect(
                    answer.isEmpty || answer.hasPrefix("HTTP/1.1 4") || answer.hasPrefix("HTTP/1.1 505 "),
                    "\(answer)")
            }
        }
    }

    @Test func `endless headers and lines end at a limit`() throws {
        try withServer { server in
            for (begin, part) in [
                ("GET / HTTP/1.1\r\n", "X-Field: \(String(repeating: "x", count: 1_000))\r\n"),
                ("GET / HTTP/1.1\r\nX: ", String(repeating: "x", count: 1_000)),
                ("GET /", String(repeating: "x", count: 1_000)), ("", String(repeating: "X", count: 1_000)),
            ] {
                let client = try Client(server.port)
                client.send(begin)
                var sent = 0
                while client.send(part) && sent < 1 << 20 { sent += part.utf8.count }
                let answer = client.rest()
                #expect(
                    answer.isEmpty || answer.hasPrefix("HTTP/1.1 431 ") || answer.hasPrefix("HTTP/1.1 414 ")
                        || answer.hasPrefix("HTTP/1.1 4"))
            }
            // Small enough for the kernel's buffers, so that no reset discards the answer.
            try expect("431", for: request("GET /", "X: \(String(repeating: "x", count: 20_000))"), server)
            try expect("414", for: request("GET /\(String(repeating: "x", count: 20_000))"), server)
        }
    }

    // Guarantees: A client that sends slowly gets no more time than the limits say.
    @Test func `a header that arrives byte by byte has no more time than another`() throws {
        var options = HTTPServer.Options()
        options.headerTimeout = .milliseconds(400)
        options.idleTimeout = .seconds(20)
        try withServer(options) { server in
            let start = ContinuousClock.now
            let client = try Client(server.port)
            let gate = Gate()
            // A byte every 20 ms prevents the idle timeout.
            try RunLoopThread.detach(name: "slow loris") { loop in
                client.trickle(request("GET /", "X: \(String(repeating: "x", count: 100_000))"))
                gate.open()
            }
            #expect(client.rest() == "")
            let time = ContinuousClock.now - start
            #expect(time >= .milliseconds(400))
            #expect(gate.wait())
            #expect(try server.perform { $0.statistics.slowConnections } == 1)
            #expect(try server.perform { $0.connectionCount } == 0)
        }
    }

    // Guarantees: A client that sends slowly gets no more time than the limits say.
    @Test func `a body that arrives byte by byte has a limit, and a connection that is idle, too`() throws {
        var options = HTTPServer.Options()
        options.bodyTimeout = .milliseconds(400)
        options.idleTimeout = .seconds(1)
        let ends = Log<HTTPExchange.EndReason>()
        try withServer(
            options,
            setUp: { server in
                server.onHeader { $0.onEnd { _, reason in ends.add(reason) } }
            }
        ) { server in
            let client = try Client(server.port)
            client.send(request("POST /", "Content-Length: 100000"))
            let gate = Gate()
            try RunLoopThread.detach(name: "slow body") { _ in
                client.trickle(String(repeating: "x", count: 100_000))
                gate.open()
            }
            #expect(client.rest() == "")
            #expect(gate.wait())
            waitUntil("the end is told") { ends.entries == [.timedOut] }
            let idle = try Client(server.port)
            idle.send(request("GET /"))
            #expect(idle.answer().body == "Hello, world!")
            #expect(idle.rest() == "")
        }
    }

    @Test func `requests of a client that does not read its answers are held back`() throws {
        var options = HTTPServer.Options()
        options.idleTimeout = .seconds(1)
        let body = [UInt8](repeating: 7, count: 1 << 16)
        try withServer(
            options, handler: { $0.respond(HTTPServer.Response(status: 200, body: body)) }
        ) { server in
            let client = try Client(server.port)
            let requests = String(repeating: request("GET /"), count: 100_000)
            // The server stops to read, and closes the connection when it is idle.
            #expect(!client.send(requests))
            let begun = try server.perform { $0.statistics.requests }
            #expect(begun > 1 && begun < 1_000)
            let other = try Client(server.port)
            other.send(request("GET /"))
            #expect(other.answer().body.utf8.count == body.count)
        }
    }

    @Test func `a connection beyond the limit waits, and one of a busy address is closed`() throws {
        var options = HTTPServer.Options()
        options.connectionLimit = 3
        try withServer(options) { server in
            let clients = try (0..<3).map { _ in try Client(server.port) }
            // Keeps the clients open: an optimised build would release them after their last use.
            defer { withExtendedLifetime(clients) {} }
            for client in clients {
                client.send(request("GET /"))
                #expect(client.answer().body == "Hello, world!")
            }
            let late = try Client(server.port)
            late.send(request("GET /"))
            #expect(try server.perform { $0.connectionCount } == 3)
            clients[0].close()
            #expect(late.answer().body == "Hello, world!")
        }
        options.connectionLimitPerPeer = 2
        try withServer(options) { server in
            let clients = try (0..<2).map { _ in try Client(server.port) }
            // Keeps the clients open: an optimised build would release them after their last use.
            defer { withExtendedLifetime(clients) {} }
            for client in clients {
                client.send(request("GET /"))
                #expect(client.answer().body == "Hello, world!")
            }
            let late = try Client(server.port)
            late.send(request("GET /"))
            #expect(late.rest() == "")
            #expect(try server.perform { $0.connectionCount } == 2)
        }
    }

    @Test func `a reset at any byte ends the exchange, and the next request is answered`() throws {
        let text =
            request("POST /", "Transfer-Encoding: chunked", "X: y") + "5\r\nabcde\r\n3\r\nfgh\r\n0\r\n\r\n"
        let begun = Shared()
        let ended = Shared()
        try withServer(
            setUp: { server in
                server.onHeader { exchange in
                    begun.increment()
                    exchange.onEnd { _, _ in ended.increment() }
                }
            },
            handler: { exchange in
                let timer = Timer(timeInterval: .milliseconds(1), repeats: false) { _ in
                    exchange.respond(
                        HTTPServer.Response.text(String(decoding: exchange.request.body, as: UTF8.self)))
                }
                RunLoop.current.add(timer, forMode: .default)
            }
        ) { server in
            for count in 0...text.utf8.count {
                let client = try Client(server.port)
                client.send(Array(text.utf8.prefix(count)))
                if count.isMultiple(of: 3) { client.endSending() }
                if count.isMultiple(of: 2) { client.reset() } else { client.close() }
            }
            let client = try Client(server.port)
            client.send(text)
            #expect(client.answer().body == "abcdefgh")
            client.close()
            waitUntil("all have ended") { (try? server.perform { $0.connectionCount }) == 0 }
            #expect(begun.count > 0)
            waitUntil("all ends were told") { begun.count == ended.count }
        }
    }

    /// Without `MSG_NOSIGNAL`, and with `sendfile`, a write to a closed connection raises the signal.
    @Test func `a client that is gone raises no SIGPIPE`() async {
        await #expect(processExitsWith: .success) {
            BrokenPipes.areFatal()
            let directory = try ScratchDirectory()
            let path = directory.path + "/file"
            try Bytes.write([UInt8](repeating: 7, count: 3 << 20), to: path)
            try withServer(handler: { exchange in
                switch exchange.request.target {
                case "/file": _ = try? exchange.respond(file: Bytes.open(path))
                case "/stream":
                    exchange.beginResponse()
                    exchange.write([UInt8](repeating: 7, count: 3 << 20))
                    exchange.endBody()
                default:
                    exchange.respond(
                        HTTPServer.Response(status: 200, body: [UInt8](repeating: 7, count: 3 << 20)))
                }
            }) { server in
                for path in ["/", "/file", "/stream"] {
                    for _ in 0..<5 {
                        let client = try Client(server.port)
                        client.send(request("GET \(path)"))
                        _ = client.text(through: "\r\n\r\n")
                        client.reset()
                    }
                }
                waitUntil("no connection is left") { (try? server.perform { $0.connectionCount }) == 0 }
            }
            try directory.remove()
        }
    }
}
