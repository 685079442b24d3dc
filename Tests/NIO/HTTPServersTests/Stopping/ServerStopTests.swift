import HTTPServers
import RunLoops
import Streams
import Synchronization
import TestExpectations
import TestSupport
import Testing

/// Servers that stop, and servers that take over.
@Suite struct ServerStopTests {
    /// Makes a server on the loop of the calling thread.
    private static func server(
        _ socket: consuming OwnedDescriptor? = nil, options: HTTPServer.Options = HTTPServer.Options(),
        _ handler: @escaping (HTTPExchange) -> Void
    ) throws -> HTTPServer {
        let server =
            switch consume socket {
            case .some(let socket): try HTTPServer(socket, options: options)
            case nil: try HTTPServer(.tcp(host: "127.0.0.1", port: 0), options: options)
            }
        try RunLoop.current.add(server, forMode: .default, handler: handler)
        return server
    }

    // Guarantees: While a server stops, it answers the requests that have begun and the connections that wait to be accepted,
    // within its deadline.
    @Test func `a server that stops finishes what has begun, and accepts no more`() throws {
        let stopped = Gate()
        let ends = Log<String>()
        try withServer(handler: { exchange in
            exchange.onEnd { ends.add("\($0.request.target) \($1)") }
            if exchange.request.target == "/soon" {
                return _ = exchange.respond(HTTPServer.Response.text("soon"))
            }
            if exchange.request.target == "/stream" { exchange.beginResponse() }
            let timer = Timer(timeInterval: .milliseconds(300), repeats: false) { _ in
                if exchange.hasResponse {
                    exchange.write("stream")
                    exchange.endBody()
                } else {
                    exchange.respond(HTTPServer.Response.text("late"))
                }
            }
            RunLoop.current.add(timer, forMode: .default)
        }) { server in
            let (late, stream, again, upload) = (
                try Client(server.port), try Client(server.port), try Client(server.port),
                try Client(server.port)
            )
            again.send(request("GET /soon"))
            #expect(again.answer().body == "soon")
            late.send(request("GET /late"))
            stream.send(request("GET /stream"))
            upload.send(request("POST /soon", "Content-Length: 4") + "ab")
            waitUntil("all have begun") { (try? server.perform { $0.statistics.requests }) == 4 }
            try server.perform { $0.stop { _ in stopped.open() } }
            // An open connection can have sent its next request.
            again.send(request("GET /soon"))
            let answer = again.answer()
            #expect(answer.body == "soon" && answer.head.contains("Connection: close"))
            #expect(again.rest() == "")
            upload.send("cd")
            #expect(upload.answer().body == "soon")
            #expect(late.answer().body == "late")
            #expect(stream.rest().hasSuffix("6\r\nstream\r\n0\r\n\r\n"))
            #expect(stopped.wait())
            #expect(throws: (any Error).self) {
                let refused = try Client(server.port)
                if !refused.send(request("GET /")) || refused.rest().isEmpty { throw Refused() }
            }
            #expect(ends.entries.count == 5 && ends.entries.allSatisfy { $0.hasSuffix(" sent") })
        }
    }

    private struct Refused: Error {}

    /// The kernel resets the connections in the backlog when the listening socket is closed.
    // Guarantees: While a server stops, it answers the requests that have begun and the connections that wait to be accepted,
    // within its deadline.
    @Test func `connections that wait to be accepted are served before a stop`() throws {
        let counts = Shared()
        try onLoopThread { loop in
            let server = try ServerStopTests.server {
                counts.increment()
                $0.respond(HTTPServer.Response.text("x"))
            }
            let port = try #require(server.localAddress.port)
            let clients = try (0..<100).map { _ in try Client(port) }
            for client in clients { client.send(request("GET /")) }
            #expect(counts.count == 0)
            server.stop()
            #expect(loop.run(in: .default, until: .hang) == .finished)
            for client in clients { #expect(client.answer().body == "x") }
        }
    }

    @Test func `a connection that is quiet is closed, and the stop is over`() throws {
        try onLoopThread { loop in
            let server = try ServerStopTests.server { $0.respond(HTTPServer.Response.text("x")) }
            let client = try Client(try #require(server.localAddress.port))
            var isStopped = false
            server.stop { server in
                #expect(!server.isValid)
                isStopped = true
            }
            loop.run(in: .default, until: .hang)
            #expect(isStopped)
            #expect(client.rest() == "")
        }
    }

    @Test
    func `the handler of a stop is called after the handler that invalidates the server, and after all ends`()
        throws
    {
        try onLoopThread { loop in
            var order: [String] = []
            var running: HTTPServer?
            let server = try ServerStopTests.server { exchange in
                exchange.onEnd { _, reason in order.append("\(reason)") }
                exchange.beginEvents()
                guard let server = running.take() else { return }
                order.append("begin")
                server.stop { _ in order.append("stopped") }
                server.invalidate()
                order.append("end")
            }
            running = server
            let client = try Client(try #require(server.localAddress.port))
            client.send(request("GET /"))
            loop.run(in: .default, until: .hang)
            #expect(order == ["begin", "end", "the server was invalidated", "stopped"])
        }
    }

    // Guarantees: While a server stops, it answers the requests that have begun and the connections that wait to be accepted,
    // within its deadline.
    @Test func `a stop ends at its deadline, whatever has begun`() throws {
        let ends = Log<HTTPExchange.EndReason>()
        try onLoopThread { loop in
            var kept: [HTTPExchange] = []
            let server = try ServerStopTests.server { exchange in
                kept.append(exchange)
                exchange.onEnd { _, reason in ends.add(reason) }
                if kept.count == 2 { exchange.beginEvents() }
            }
            let port = try #require(server.localAddress.port)
            let clients = try (0..<2).map { _ in try Client(port) }
            for client in clients { client.send(request("GET /")) }
            while kept.count < 2 { loop.run(in: .default, until: .now + .milliseconds(5)) }
            let start = ContinuousClock.now
            server.stop(within: .milliseconds(200))
            loop.run(in: .default, until: .hang)
            #expect(ContinuousClock.now - start >= .milliseconds(200))
            #expect(ends.entries == [.serverInvalidated, .serverInvalidated])
            #expect(kept.allSatisfy { !$0.isOpen && !$0.respond(HTTPServer.Response.text("x")) })
            for client in clients { _ = client.rest() }
        }
    }

    @Test func `a server is invalidated with requests in every state`() throws {
        let responders = Log<HTTPResponder>()
        for _ in 0..<5 {
            try withServer(
                setUp: { server in
                    server.onHeader { exchange in
                        if exchange.request.target == "/paused" {
                            exchange.isReadingPaused = true
                            exchange.onData { _, _ in }
                        }
                    }
                },
                handler: { exchange in
                    switch exchange.request.target {
                    case "/kept": responders.add(exchange.makeResponder())
                    case "/events": exchange.beginEvents()
                    case "/upgrade":
                        exchange.upgrade(to: "x") { connection in
                            do { try RunLoop.current.add(connection, forMode: .default) } catch {
                                Issue.record(error)
                            }
                        }
                    default:
                        exchange.respond(
                            HTTPServer.Response(status: 200, body: [UInt8](repeating: 1, count: 9 << 20)))
                    }
                }
            ) { server in
                var clients: [Client] = []
                for text in [
                    request("GET /kept"), request("GET /events"), request("GET /big"),
                    "GET /half HTTP/1.1\r\n",
                    request("GET /upgrade", "Connection: Upgrade", "Upgrade: x"),
                    request("PUT /paused", "Content-Length: 1000000")
                        + String(repeating: "x", count: 150_000), "",
                ] {
                    let client = try Client(server.port)
                    client.send(text)
                    clients.append(client)
                }
                waitUntil("all have begun") { (try? server.perform { $0.statistics.requests }) == 6 }
                try server.perform { $0.invalidate() }
            }
        }
    }

    // Guarantees: Handlers are called only while the loop runs in one of the server's modes, in ``HTTPServer/invalidate()``, and at
    // the end of the thread.
    @Test func `the end of the loop's thread ends the server`() throws {
        let ends = Log<HTTPExchange.EndReason>()
        let responders = Log<HTTPResponder>()
        let port = Shared()
        try onLoopThread { loop in
            let server = try ServerStopTests.server { exchange in
                exchange.onEnd { _, reason in ends.add(reason) }
                responders.add(exchange.makeResponder())
            }
            port.value.store(Int(try #require(server.localAddress.port)), ordering: .sequentiallyConsistent)
            let client = try Client(UInt16(port.count))
            client.send(request("GET /"))
            while responders.entries.isEmpty { loop.run(in: .default, until: .now + .milliseconds(5)) }
        }
        waitUntil("the end is told") { ends.entries == [.serverInvalidated] }
        #expect(responders.entries.first?.respond(HTTPServer.Response.text("late")) == false)
    }

    // Guarantees: Handlers are called only while the loop runs in one of the server's modes, in ``HTTPServer/invalidate()``, and at
    // the end of the thread.
    @Test func `a server in a private mode serves only in it`() throws {
        try onLoopThread { loop in
            let mode = RunLoop.Mode("org.example.http")
            var count = 0
            let server = try HTTPServer(.tcp(host: "127.0.0.1", port: 0))
            try loop.add(server, forMode: mode) {
                count += 1
                $0.respond(.text("x"))
            }
            let client = try Client(try #require(server.localAddress.port))
            client.send(request("GET /"))
            let timer = Timer(timeInterval: .seconds(9), repeats: false) { _ in }
            loop.add(timer, forMode: .default)
            loop.run(in: .default, until: .now + .milliseconds(50))
            #expect(count == 0)
            while count == 0 { loop.run(in: mode, until: .now + .milliseconds(5)) }
            #expect(client.answer().body == "x")
            server.invalidate()
            timer.invalidate()
        }
    }
}
