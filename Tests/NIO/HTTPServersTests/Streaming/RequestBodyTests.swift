import HTTPServers
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Bodies of requests that are collected, streamed, or refused.
@Suite struct RequestBodyTests {
    private static func expect(
        _ lines: [String], _ server: Serving, _ count: Int, _ fields: String...,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) throws {
        let received = try upload(server, count, fields)
        #expect(received == lines, sourceLocation: sourceLocation)
    }

    private static func upload(_ server: Serving, _ count: Int, _ fields: [String]) throws -> [String] {
        let directory = try ScratchDirectory()
        defer { try? directory.remove() }
        let path = directory.path + "/upload"
        try Bytes.write([UInt8](repeating: 9, count: count), to: path)
        let words = ["-T", path, "-w", "\n%{http_code}"] + fields.flatMap { ["-H", $0] } + [server.url("/")]
        return try Program(path: "/usr/bin/env").run(
            list: ["curl", "-s", "--noproxy", "*", "--max-time", "60"] + words
        ).lines
    }

    @Test func `a streamed body arrives piece by piece, before the handler of requests`() throws {
        try withServer(
            setUp: { server in
                server.onHeader { exchange in
                    var count = 0
                    exchange.onData { exchange, bytes in
                        count += bytes.byteCount
                        #expect(bytes.byteCount <= 256 << 10)
                        if count == 20_000_000 { exchange.respond(HTTPServer.Response.text("all")) }
                    }
                }
            }, handler: { _ in Issue.record("the request was answered already") }
        ) { server in
            try RequestBodyTests.expect(["all", "200"], server, 20_000_000)
            try RequestBodyTests.expect(["all", "200"], server, 20_000_000, "Transfer-Encoding: chunked")
        }
    }

    // Guarantees: A body that is collected is limited, and a body that is streamed makes the client wait.
    @Test func `a paused body makes the client wait, and goes on`() throws {
        let counts = Log<Int>()
        try withServer(setUp: { server in
            server.onHeader { exchange in
                exchange.isReadingPaused = true
                var count = 0
                exchange.onData { _, bytes in
                    if count == 0 { counts.add(bytes.byteCount) }
                    count += bytes.byteCount
                }
                exchange.onEnd { _, _ in counts.add(count) }
                let timer = Timer(timeInterval: .milliseconds(100), repeats: false) { _ in
                    exchange.isReadingPaused = false
                }
                RunLoop.current.add(timer, forMode: .default)
            }
        }) { server in
            try RequestBodyTests.expect(["Hello, world!", "200"], server, 3_000_000)
            waitUntil("it has ended") { counts.entries.count == 2 }
            let first = try #require(counts.entries.first)
            #expect(first >= 128 << 10 && first <= 160 << 10)
            #expect(counts.entries.last == 3_000_000)
        }
    }

    @Test func `a handler refuses a body before the client sends it`() throws {
        let received = Shared()
        try withServer(
            setUp: { server in
                server.onHeader { $0.respond(HTTPServer.Response.text("no", status: 401)) }
            }, handler: { _ in received.increment() }
        ) { server in
            let client = try Client(server.port)
            client.send(request("PUT /", "Content-Length: 1000000", "Expect: 100-continue"))
            let text = client.rest()
            #expect(text.hasPrefix("HTTP/1.1 401 ") && text.hasSuffix("no") && !text.contains("100 Continue"))
            #expect(received.count == 0)
        }
    }

    @Test func `a client that expects to be asked is asked`() throws {
        try withServer(handler: { $0.respond(HTTPServer.Response.text("\($0.request.body.count)")) }) {
            server in
            let client = try Client(server.port)
            client.send(request("PUT /", "Content-Length: 4", "Expect: 100-continue"))
            #expect(client.text(through: "\r\n\r\n").hasPrefix("HTTP/1.1 100 "))
            client.send("abcd")
            #expect(client.answer().body == "4")
        }
    }

    // Guarantees: A body that is collected is limited, and a body that is streamed makes the client wait.
    @Test func `a body beyond the limit gets status 413, with a length and in chunks`() throws {
        var options = HTTPServer.Options()
        options.bodyLimit = 100_000
        try withServer(options, handler: { $0.respond(HTTPServer.Response.text("\($0.request.body.count)")) })
        {
            server in
            try RequestBodyTests.expect(["100000", "200"], server, 100_000)
            try RequestBodyTests.expect(["100000", "200"], server, 100_000, "Transfer-Encoding: chunked")
            try RequestBodyTests.expect(["413"], server, 100_001)
            try RequestBodyTests.expect(["413"], server, 100_001, "Transfer-Encoding: chunked")
            // Far beyond the limit, the connection is closed.
            let last = try RequestBodyTests.upload(server, 10_000_000, ["Transfer-Encoding: chunked"]).last
            #expect(last != "200")
            #expect(try server.perform { $0.statistics.refusedRequests } == 3)
        }
    }

    @Test func `an upload that is aborted ends its exchange`() throws {
        let ends = Log<HTTPExchange.EndReason>()
        try withServer(
            setUp: { server in
                server.onHeader { exchange in
                    exchange.onData { _, _ in }
                    exchange.onEnd { _, reason in ends.add(reason) }
                }
            }, handler: { _ in Issue.record("the request is not complete") }
        ) { server in
            for number in 1...6 {
                let client = try Client(server.port)
                client.send(
                    request("PUT /", "Content-Length: 1000") + String(repeating: "x", count: number * 100))
                waitUntil("it has begun") { (try? server.perform { $0.statistics.requests }) == number }
                if number.isMultiple(of: 2) { client.reset() } else { client.close() }
                waitUntil("the end is told") { ends.entries.count == number }
            }
            #expect(ends.entries.allSatisfy { $0 == .clientLeft })
        }
    }

    /// Setting a handler releases the one before it, and that can destroy an object that uses the server or the exchange.
    @Test func `an object of a replaced handler may set that handler when it is destroyed`() throws {
        let calls = Log<String>()
        try withServer(
            setUp: { server in
                let last: (HTTPExchange) -> Void = { exchange in
                    calls.add("header")
                    exchange.onData {
                        [parting = Parting { exchange.onData { _, _ in calls.add("data") } }] _, _ in
                        parting.hold()
                    }
                    exchange.onData { _, _ in }
                    exchange.onEnd {
                        [parting = Parting { exchange.onEnd { _, _ in calls.add("end") } }] _, _ in
                        parting.hold()
                    }
                    exchange.onEnd { _, _ in }
                    exchange.onDrained { [parting = Parting { exchange.onDrained { _ in } }] _ in
                        parting.hold()
                    }
                    exchange.onDrained { _ in }
                }
                server.onHeader { [parting = Parting { server.onHeader(last) }] _ in parting.hold() }
                server.onHeader { _ in calls.add("replaced") }
            }
        ) { server in
            let answer = try curl("-d", "body", server.url("/"))
            #expect(answer == ["Hello, world!"])
            waitUntil("the exchange has ended") { calls.entries.last == "end" }
        }
        #expect(calls.entries == ["header", "data", "end"])
    }

    @Test(arguments: ["Connection: close", "Connection: upgrade\r\nUpgrade: x", "Host: b", "X: y"])
    func `the fields of a trailer mean nothing for the connection`(trailer: String) throws {
        try withServer(handler: { $0.respond(.text("\($0.request.body.count)")) }) { server in
            let client = try Client(server.port)
            let upload =
                request("POST /", "Transfer-Encoding: chunked") + "3\r\nabc\r\n0\r\n\(trailer)\r\n\r\n"
            client.send(upload + upload + request("GET /"))
            for body in ["3", "3", "0"] { #expect(client.answer().body == body) }
        }
    }

    @Test func `a trailer that does not end is refused, however long the streamed body was`() throws {
        let ends = Log<HTTPExchange.EndReason>()
        try withServer(setUp: { server in
            server.onHeader { exchange in
                exchange.onData { _, _ in }
                exchange.onEnd { _, reason in ends.add(reason) }
            }
        }) { server in
            let client = try Client(server.port)
            client.send(request("POST /", "Transfer-Encoding: chunked"))
            let chunk = "100000\r\n" + String(repeating: "d", count: 1 << 20) + "\r\n"
            for _ in 0..<4 { client.send(chunk) }
            client.send("0\r\nX: ")
            // What the body's length would allow; the server does not take it.
            let piece = String(repeating: "t", count: 1 << 20)
            var sent = 0
            while sent < 64, client.send(piece) { sent += 1 }
            #expect(sent < 64)
            waitUntil("the exchange has ended") { ends.entries.count == 1 }
        }
    }
}
