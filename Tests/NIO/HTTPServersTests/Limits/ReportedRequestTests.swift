import Foundation
import HTTPServers
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Requests with which strangers have broken earlier servers.
@Suite struct ReportedRequestTests {
    private static let host = "Host: a\r\n"

    /// Sends bytes to a server that tells what it has seen, and returns everything that it answers.
    private func answers(
        to text: String, _ options: HTTPServer.Options = HTTPServer.Options(), seen: Log<String> = Log()
    ) throws -> String {
        var answer = ""
        try withServer(
            options,
            handler: { exchange in
                let request = exchange.request
                seen.add("\(request) \(request.body.count)")
                exchange.respond(
                    .text(
                        "\(request.path) \(request.body.count) \(request.headerFields.map { "[\($0.value)]" })"
                    ))
            }
        ) { server in
            let client = try Client(server.port)
            client.send(text)
            client.endSending()
            answer = client.rest()
            let honest = try Client(server.port)
            honest.send(request("GET /honest"))
            #expect(honest.answer().body.hasPrefix("/honest 0"))
        }
        return answer
    }

    private func count(_ answer: String) -> Int { answer.ranges(of: "HTTP/1.1 ").count }

    static let inner = "GET /second HTTP/1.1\r\nHost: a\r\n\r\n"
    static let chunked = "POST /first HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// Each of these gets status 400, and nothing behind it is a request.
    static let bad: [String] = [
        // Folded lines.
        "POST /first HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n 33\r\n\r\n",
        "POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n 3\r\n\r\n",
        "POST /first HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\t33\r\n\r\n",
        "POST /first HTTP/1.1\r\nHost: a\r\nX: y\r\n Content-Length: 33\r\n\r\n",
        "GET /first HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n",
        "POST /first HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
        // NUL, and bare CR and LF.
        "POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: 3\u{0}0\r\n\r\nabc",
        "GET /open/\u{0}secret HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: a\u{0}b\r\n\r\n",
        "GE\u{0}T / HTTP/1.1\r\nHost: a\r\n\r\n", chunked + "3;x\nabc\r\n0\r\n\r\n",
        chunked + "3\nabc\n0\n\n",
        chunked + "3\r\nabc\n0\r\n\r\n", chunked + "3\r\nabc\r\n0\r\n\n",
        chunked + "3\r\nabc\r\n0\r\nX: y\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: y\rContent-Length: 3\r\n\r\n",
        "GET / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n",
        // Hosts and targets.
        "GET / HTTP/1.1\r\nHost: a/b@c d\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET * HTTP/1.1\r\nHost: a\r\n\r\n", "GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /# HTTP/1.1\r\nHost: a\r\n\r\n", "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
        // Lengths.
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5a\r\n\r\nabcde",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\nabcde",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nabcde",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\nabcde",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        // Chunks.
        chunked + "0x3\r\nabc\r\n0\r\n\r\n", chunked + "+3\r\nabc\r\n0\r\n\r\n", chunked + "-1\r\n\r\n",
        chunked + "3x\r\nabc\r\n0\r\n\r\n", chunked + " 3\r\nabc\r\n0\r\n\r\n",
        chunked + "3\r\nabcde\r\n0\r\n\r\n",
        chunked + "\r\n", chunked + "FFFFFFFFFFFFFFFFF\r\n", chunked + "0\r\nContent-Length: 3\r\n\r\n",
        chunked + "0\r\n X: y\r\n\r\n",
    ]

    // Guarantees: A request that a proxy could take for two requests is refused.
    @Test(arguments: bad) func `a request that breaks a rule is refused, and nothing behind it is read`(
        text: String
    ) throws {
        let seen = Log<String>()
        let answer = try answers(to: text + ReportedRequestTests.inner, seen: seen)
        // The parser refuses some codings itself, and our rules others.
        let isRefused = ["400", "501", "505"].contains { answer.hasPrefix("HTTP/1.1 \($0) ") }
        #expect(
            isRefused && count(answer) == 1 && answer.contains("\r\nConnection: close\r\n"),
            "\(text.debugDescription): \(answer.debugDescription)")
        #expect(seen.entries == ["GET /honest 0"], "\(text.debugDescription)")
    }

    @Test(arguments: [
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nx", ["501", "400"]),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\nx", ["501", "400"]),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\nx", ["501", "400"]),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
            ["501", "400"]
        ),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", ["501", "400"]),
        ("CONNECT a:80 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n./", ["501"]),
        ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", ["400", "505"]),
        ("GET / HTTP/1.2\r\nHost: a\r\n\r\n", ["400", "505"]),
        ("GET /\r\n\r\n", ["400", "505"]), ("FOO / HTTP/1.1\r\nHost: a\r\n\r\n", ["400", "501"]),
        ("POST / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nContent-Length: 1\r\n\r\nx", ["417"]),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999999\r\n\r\nx", ["413"]),
    ])
    func `other requests are refused with a status of their own`(text: String, statuses: [String]) throws {
        let seen = Log<String>()
        let answer = try answers(to: text + ReportedRequestTests.inner, seen: seen)
        #expect(statuses.contains { answer.hasPrefix("HTTP/1.1 \($0) ") } && count(answer) == 1, "\(answer)")
        #expect(seen.entries == ["GET /honest 0"])
    }

    @Test(arguments: [
        ("X: \t a b \t", "[a b]"), ("Content-Length: 3 ", "/ 3 "), ("Transfer-Encoding: chunked ", "/ 0 "),
        ("X: a\tb", "[a\\tb]"), ("X:", "[]"), ("x-LONG_name!: ,", "[,]"),
    ])
    func `white space around a value is none of the value`(field: String, expected: String) throws {
        let body = field.hasPrefix("C") ? "abc" : field.hasPrefix("T") ? "0\r\n\r\n" : ""
        let answer = try answers(
            to: "POST / HTTP/1.1\r\nHost: a \r\n\(field)\r\nConnection: close\r\n\r\n\(body)")
        #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains(expected), "\(answer)")
    }

    @Test func `a handshake may have white space in its lists`() throws {
        try withServer(handler: { $0.upgradeToWebSocket { $0.close() } }) { server in
            for connection in ["Upgrade", "keep-alive,\tUpgrade", "keep-alive\t,\tupgrade , x", ",Upgrade"] {
                let client = try Client(server.port)
                client.send(
                    request(
                        "GET /ws", "Connection: \(connection)", "Upgrade: websocket\t",
                        "Sec-WebSocket-Version: 13 ",
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ== "))
                #expect(client.answer().head.hasPrefix("HTTP/1.1 101 "), "\(connection)")
            }
        }
    }

    @Test(arguments: [
        ("http://example.org/hello?x=1", "/hello "), ("http://example.org", "/ "),
        ("HTTP://Example.org:80/a", "/a "),
        ("https://[::1]:8080?x", "/ "),
    ])
    func `a target may be a URL`(target: String, path: String) throws {
        let answer = try answers(
            to: "GET \(target) HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains("\r\n\r\n" + path), "\(answer)")
    }

    @Test func `the host of a URL replaces the field`() throws {
        try withServer(handler: { $0.respond(.text($0.request.authority ?? "")) }) { server in
            let client = try Client(server.port)
            client.send("GET http://b:80/ HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: \ta\t\r\n\r\n")
            #expect(client.answer().body == "b:80")
            #expect(client.answer().body == "a")
        }
    }

    @Test func `a response to HEAD, 204 and 304 ends with its header, however it is given`() throws {
        try withServer(handler: { exchange in
            let parts = exchange.request.segments
            let status = HTTPResponse.Status(code: Int(parts[0]) ?? 200)
            switch parts[1] {
            case "events": exchange.beginEvents()
            case "stream": exchange.beginResponse(status: status)
            case "counted": exchange.beginResponse(status: status, contentLength: 10)
            default:
                return _ = exchange.respond(
                    HTTPServer.Response(status: status, body: Array("0123456789".utf8)))
            }
            exchange.write("0123456789")
            exchange.endBody()
        }) { server in
            for kind in ["events", "stream", "counted", "whole"] {
                let client = try Client(server.port)
                client.send(request("HEAD /200/\(kind)"))
                for status in [204, 304] where kind != "events" {
                    client.send(request("GET /\(status)/\(kind)"))
                }
                client.send(request("GET /200/end", "Connection: close"))
                let heads = client.rest().components(separatedBy: "\r\n\r\n")
                #expect(
                    heads.count == (kind == "events" ? 3 : 5) && heads.last == "0123456789",
                    "\(kind): \(heads)")
                #expect(heads.dropLast().allSatisfy { $0.hasPrefix("HTTP/1.1 ") }, "\(kind): \(heads)")
            }
        }
    }

    // Guarantees: A client whose request is refused gets the status, even while it is still sending.
    @Test(arguments: [false, true])
    func `a body beyond the limit gets its status, however the client sends it`(asks: Bool) throws {
        try withServer(setUp: { if asks { $0.onHeader { _ in } } }) { server in
            for isChunked in [false, true] {
                let client = try Client(server.port)
                let field = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: 20971520"
                client.send(request("POST /", field))
                let part = [UInt8](repeating: 7, count: 65_536)
                let piece = isChunked ? Array("10000\r\n".utf8) + part + Array("\r\n".utf8) : part
                // The whole body arrives at the server, which discards it.
                for _ in 0..<320 { #expect(client.send(piece)) }
                #expect(client.answer().head.hasPrefix("HTTP/1.1 413 "), "\(field)")
            }
            #expect(try server.perform { $0.statistics.refusedRequests } == 2)
        }
    }

    @Test func `a request that offers an upgrade which is not taken is followed by the next one`() throws {
        try withServer(handler: { $0.respond(.text("\($0.request.target) \($0.request.body.count)")) }) {
            server in
            let client = try Client(server.port)
            for number in 0..<3 {
                client.send(
                    request(
                        "GET /\(number)", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c",
                        "HTTP2-Settings: x")
                        + request("POST /post", "Connection: Upgrade", "Upgrade: x", "Content-Length: 5")
                        + "hello"
                        + request("GET /next"))
                #expect(client.answer().body == "/\(number) 0")
                #expect(client.answer().body == "/post 5")
                #expect(client.answer().body == "/next 0")
            }
        }
    }

    /// The parser takes the field for `Connection`.
    @Test func `a field of proxies does not end a connection`() throws {
        let head = "PUT /first HTTP/1.1\r\nHost: a\r\nProxy-Connection: close\r\n\r\n"
        let answer = try answers(to: head + ReportedRequestTests.inner)
        #expect(count(answer) == 2 && answer.ranges(of: "HTTP/1.1 200 ").count == 2, "\(answer)")
    }

    // Guarantees: A request that a proxy could take for two requests is refused.
    @Test(arguments: [
        "HTTP/1.1\r\nHost: a\r\nConnection:\tclose\t", "HTTP/1.1\r\nHost: a\r\nConnection: x,\tclose\t, y",
        "HTTP/1.0\r\nHost: a\r\nConnection: keep-alive, close", "HTTP/1.0\r\nHost: a",
        "HTTP/1.1\r\nHost: a\r\nConnection: x\r\nConnection: CLOSE",
    ])
    func `nothing behind the last request of a connection is answered`(rest: String) throws {
        let answer = try answers(to: "GET / \(rest)\r\n\r\n" + ReportedRequestTests.inner)
        #expect(answer.hasPrefix("HTTP/1.1 200 ") && count(answer) == 1, "\(answer)")
        #expect(answer.contains("\r\nConnection: close\r\n"))
    }

    @Test func `HTTP 1.0 keeps a connection if it asks for that, and its streams end with the connection`()
        throws
    {
        try withServer(handler: { exchange in
            if exchange.request.path == "/stream" {
                exchange.beginResponse()
                exchange.write("abc")
                return exchange.endBody()
            }
            exchange.respond(.text("x"))
        }) { server in
            let client = try Client(server.port)
            client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let first = client.answer()
            #expect(first.body == "x" && first.head.contains("Connection: keep-alive"))
            client.send("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let text = client.rest()
            #expect(
                text.hasSuffix("\r\n\r\nabc") && text.contains("Connection: close")
                    && !text.contains("chunked"))
        }
    }

    @Test func `a header has limits for its bytes and for its fields`() throws {
        var options = HTTPServer.Options()
        options.headerLimit = 4_096
        let many = (0..<129).map { "X\($0): y\r\n" }.joined()
        let line = "GET /\(String(repeating: "x", count: 4_096)) HTTP/1.1\r\nHost: a\r\n\r\n"
        for (text, status) in [
            ("GET / HTTP/1.1\r\nHost: a\r\n\(many)\r\n", 431), (line, 414),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "y", count: 4_096))\r\n\r\n", 431),
            (String(repeating: "\r\n", count: 3_000), 431),
        ] {
            let answer = try answers(to: text, options)
            #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && count(answer) == 1, "\(status): \(answer)")
        }
        // What lies around the data of chunks is limited, too.
        for body in [
            "3;\(String(repeating: "x", count: 100_000))\r\nabc\r\n0\r\n\r\n",
            "3\r\nabc\r\n0\r\n" + (0..<10_000).map { "X\($0): y\r\n" }.joined() + "\r\n",
        ] {
            let answer = try answers(to: ReportedRequestTests.chunked + body)
            #expect(answer.hasPrefix("HTTP/1.1 4") && count(answer) == 1, "\(answer)")
        }
    }
}
