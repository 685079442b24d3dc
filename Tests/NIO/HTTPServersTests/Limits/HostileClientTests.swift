import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

@testable import HTTPServers

/// Clients that want to harm: after each of them, the next honest request is answered, and nothing of them is left.
@Suite(.serialized) struct HostileClientTests {
    @Test
    func
        `a thousand clients that never end their headers hold nobody up, and lose their connections at their time`()
        throws
    {
        var options = HTTPServer.Options()
        options.connectionLimit = 1_200
        options.headerTimeout = .seconds(2)
        let records = Shared()
        try withServer(options, setUp: { $0.onRequestEnd { _, _ in records.increment() } }) { server in
            let crowd = Child(
                shell: """
                    exec bash -c 'ulimit -S -n $(ulimit -H -n); for i in $(seq 1000); do
                    exec {fd}<>/dev/tcp/127.0.0.1/\(server.port) || exit 1; printf "GET / HTTP/1.1\\r\\nX: $i" >&$fd; done; sleep 300'
                    """)
            for _ in 0..<20 { try expectAnswer(server) }
            waitUntil("all have come") {
                (try? server.perform { $0.statistics.connections }) ?? 0 >= 1_020
            }
            waitUntil("all have lost their connections") { (try? server.perform { $0.connectionCount }) == 0 }
            try expectAnswer(server)
            #expect(try server.perform { $0.statistics.slowConnections } == 1_000)
            waitUntil("each request is told of, also those without an end") { records.count == 1_021 }
            kill(crowd.processID, SIGKILL)
            crowd.wait()
        }
    }

    @Test func `each limit allows what it says, and one more is refused`() throws {
        var options = HTTPServer.Options()
        options.headerLimit = 2_000
        options.bodyLimit = 500
        try withServer(options, handler: { $0.respond(.text("\($0.request.body.count)")) }) { server in
            func header(of count: Int) -> String {
                let start = "GET / HTTP/1.1\r\nHost: a\r\nX: "
                return start + String(repeating: "v", count: count - start.utf8.count - 4) + "\r\n\r\n"
            }
            func fields(_ count: Int) -> String {
                "GET / HTTP/1.1\r\nHost: a\r\n" + (1..<count).map { "X\($0): y\r\n" }.joined() + "\r\n"
            }
            func chunks(_ count: Int) -> String {
                request("POST /", "Transfer-Encoding: chunked")
                    + String(repeating: "1\r\nx\r\n", count: count) + "0\r\n\r\n"
            }
            func body(_ count: Int) -> String {
                request("POST /", "Content-Length: \(count)") + String(repeating: "x", count: count)
            }
            let cases = [
                (header(of: 2_000), "200", "0"), (header(of: 2_001), "431", ""), (fields(128), "200", "0"),
                (fields(129), "431", ""),
                (body(500), "200", "500"), (body(501), "413", ""), (chunks(500), "200", "500"),
                (chunks(501), "413", ""),
                ("GET /" + String(repeating: "p", count: 1_975) + " HTTP/1.1\r\nHost: a\r\n\r\n", "431", ""),
                ("GET /" + String(repeating: "p", count: 2_000) + " HTTP/1.1\r\nHost: a\r\n\r\n", "414", ""),
            ]
            for (text, status, content) in cases {
                let client = try Client(server.port)
                client.send(text)
                let answer = client.answer()
                #expect(answer.head.hasPrefix("HTTP/1.1 \(status) "), "\(text.prefix(60)) \(text.utf8.count)")
                if status == "200" { #expect(answer.body == content) }
                try expectAnswer(server, "0")
            }
        }
    }

    /// The other request is there before the loop reads the flood, of which it then takes only steps.
    @Test(arguments: ["1\r\nx\r\n", "1;a=b\r\nx\r\n", "00000000000000001\r\nx\r\n"])
    func `small chunks without end are taken in steps, between which others are served`(chunk: String) throws
    {
        let order = Log<Int>()
        let count = 10_000
        try withServer(
            setUp: { server in
                server.onHeader { $0.onData { _, bytes in order.add(bytes.byteCount) } }
            },
            handler: { exchange in
                if exchange.request.target == "/flood" { order.add(-2) } else { order.add(-1) }
                exchange.respond(.text("ok"))
            }
        ) { server in
            let (flood, other) = (try Client(server.port), try Client(server.port))
            flood.send(request("POST /flood", "Transfer-Encoding: chunked") + chunk)
            waitUntil("the flood has begun") { !order.entries.isEmpty }
            let (isHeld, maySee, isSent) = (Gate(), Gate(), Gate())
            server.thread.runLoop.perform {
                isHeld.open()
                _ = maySee.wait()
            }
            #expect(isHeld.wait())
            other.send(request("GET /"))
            try RunLoopThread.detach(name: "flood") { _ in
                flood.send(String(repeating: chunk, count: count - 1) + "0\r\n\r\n")
                isSent.open()
            }
            maySee.open()
            #expect(other.answer().body == "ok")
            let answer = flood.answer()
            #expect(isSent.wait())
            if answer.head.hasPrefix("HTTP/1.1 200 ") {
                #expect(order.entries.filter { $0 > 0 }.reduce(0, +) == count)
                #expect(order.entries.firstIndex(of: -1)! < order.entries.firstIndex(of: -2)!)
            } else {
                // More lies around the data than clients send.
                #expect(answer.head.hasPrefix("HTTP/1.1 400 "))
            }
        }
    }

    @Test func `a client that ends its stream in any state leaves nothing behind`() throws {
        let (later, ends) = (Log<HTTPResponder>(), Log<HTTPExchange.EndReason>())
        try withServer(handler: { exchange in
            exchange.onEnd { ends.add($1) }
            if exchange.request.path == "/later" {
                later.add(exchange.makeResponder())
            } else {
                exchange.respond(.text("ok"))
            }
        }) { server in
            let post = request("POST /", "Content-Length: 10")
            let chunked = request("POST /", "Transfer-Encoding: chunked")
            for text in [
                "", "G", "GET / HTTP/1.1\r\nHost", "GET / HTTP/1.1\r\nHost: a\r\n", post, post + "12345",
                chunked, chunked + "5",
                chunked + "5\r\nab", chunked + "2\r\nab", chunked + "2\r\nab\r\n0\r\n",
                chunked + "2\r\nab\r\n0\r\nX: y\r\n",
            ] {
                let client = try Client(server.port)
                client.send(text)
                client.endSending()
                let answer = client.rest()
                #expect(!answer.contains("200 OK"), "\(text.debugDescription): \(answer)")
                try expectAnswer(server, "ok")
            }
            // A whole request is answered, although its client sends no more.
            let client = try Client(server.port)
            client.send(request("GET /1") + request("GET /later") + request("GET /2"))
            client.endSending()
            waitUntil("the second request is there") { later.entries.count == 1 }
            later.entries.first?.respond(.text("later"))
            later.removeAll()
            let text = client.rest()
            #expect(text.components(of: "HTTP/1.1 200 OK") == 3 && text.contains("later"))
            waitUntil("no connection is left") { (try? server.perform { $0.connectionCount }) == 0 }
        }
    }

    @Test func `a reset in any state of a response leaves nothing behind`() throws {
        let ends = Log<String>()
        try withServer(handler: { exchange in
            exchange.onEnd { exchange, reason in ends.add(exchange.request.target) }
            switch exchange.request.path {
            case "/stream":
                exchange.beginResponse()
                exchange.write(String(repeating: "x", count: 1 << 20))
            case "/events":
                exchange.beginEvents()
                exchange.send(HTTPServer.Event("one"))
            case "/socket":
                exchange.upgradeToWebSocket { socket in
                    socket.onMessage { socket, _ in socket.send("answer") }
                }
            case "/long": exchange.respond(.text(String(repeating: "y", count: 4 << 20)))
            case "/later":
                let timer = Timer(timeInterval: .milliseconds(5), repeats: false) { _ in
                    exchange.respond(.text("late"))
                }
                RunLoop.current.add(timer, forMode: .default)
            default: exchange.respond(.text("ok"))
            }
        }) { server in
            let targets = ["/stream", "/events", "/long", "/later", "/"]
            for round in 0..<5 {
                for target in targets {
                    let client = try Client(server.port)
                    client.send(request("GET \(target)") + request("GET \(target)"))
                    if round > 0 && target != "/later" { _ = client.text(through: "HTTP/1.1 200") }
                    client.reset()
                }
                let socket = try SocketClient(server.port)
                socket.send(.text, "one")
                if round > 0 { #expect(socket.frame() == .text("answer")) }
                socket.client.reset()
                // One whose body is refused, and who never reads that.
                let client = try Client(server.port)
                client.send(request("POST /", "Content-Length: 999999999"))
                client.reset()
                try expectAnswer(server, "ok")
            }
            waitUntil("no connection is left") { (try? server.perform { $0.connectionCount }) == 0 }
        }
    }

    // MARK: - Help

    /// An honest client on a connection of its own.
    private func expectAnswer(
        _ server: Serving, _ text: String = "Hello, world!",
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) throws {
        let client = try Client(server.port)
        client.send(request("GET /"))
        #expect(client.answer().body == text, sourceLocation: sourceLocation)
    }
}

extension String {
    /// The number of times that a text occurs.
    fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
