import Foundation
import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Servers that violate the protocol, or try to exhaust the client.
@Suite struct BadAnswerTests {
    /// Returns the error of a transfer with this answer.
    private func error(
        of answer: String, options: HTTPClient.Options = .local(),
        _ check: @escaping @Sendable (HTTPClientError?) -> Bool
    ) throws {
        try withServer(
            { exchange in
                try exchange.send(answer)
                exchange.close()
            }, options: options
        ) { client, server in
            let outcome = client.fetch(server.url("/"))
            #expect(
                check(outcome.error), "\(answer.prefix(80)): \(outcome.error.map { "\($0)" } ?? "no error")")
            // The client remains usable.
            #expect(client.transferCount == 0)
        }
    }

    private static func isInvalid(_ error: HTTPClientError?) -> Bool {
        error.map { [.invalidResponse, .connectionLost, .other].contains($0.reason) } ?? false
    }

    @Test func `endless headers end at a limit`() throws {
        let tooLarge = "a header of more than \(256 << 10) bytes"
        let tooMany = "an invalid response: more than 1024 lines of headers"
        for (line, error) in [
            ("X-Field: \(String(repeating: "x", count: 1_000))\r\n", tooLarge),
            ("X-Field: x\r\n", tooMany), ("HTTP/1.1 100 Continue\r\n\r\n", tooMany),
        ] {
            try withServer({ exchange in
                if line.hasPrefix("X") { try exchange.send("HTTP/1.1 200 OK\r\n") }
                while true { try exchange.send(String(repeating: line, count: 50)) }
            }) { client, server in
                #expect(client.fetch(server.url("/")).error?.description == error)
            }
        }
    }

    @Test func `a line of a header that never ends is a header that is too long`() throws {
        try withServer({ exchange in
            try exchange.send("HTTP/1.1 200 OK\r\nX: ")
            while true { try exchange.send(String(repeating: "x", count: 50_000)) }
        }) { client, server in
            #expect(client.fetch(server.url("/")).error?.reason == .headerTooLarge)
        }
    }

    @Test func `conflicting lengths, broken chunks and nonsense are errors`() throws {
        let answers = [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
            "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabcdef",
            "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nabcdef",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\nabc\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcde\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 6\r\n\r\nabcdef",
            "this is not HTTP\r\n\r\n", "", "HTTP/1.1\r\n\r\n", "HTTP/1.1 xyz OK\r\n\r\n", "\0\0\0\0",
        ]
        for answer in answers { try error(of: answer, BadAnswerTests.isInvalid) }
    }

    @Test func `a second answer to one request is not given to the next request`() throws {
        try withServer({ exchange in
            let first = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
            try exchange.send(exchange.path == "/one" ? first + "first" + first + "other" : first + "right")
        }) { client, server in
            #expect(client.fetch(server.url("/one")).text == "first")
            #expect(client.fetch(server.url("/two")).text == "right")
            #expect(server.connections.count == 2)
        }
    }

    // Guarantees: The limit of the body counts decoded bytes, whether the server has stated a length or not.
    @Test func `a decompression bomb ends at the limit of the decoded body`() throws {
        // 64 MiB of zeros, compressed to some 64 KiB.
        let bomb = try Tool.python("import gzip,sys; sys.stdout.buffer.write(gzip.compress(bytes(64 << 20)))")
        #expect(bomb.count < 100_000)
        try withServer(
            { try $0.answer("200 OK", "Content-Encoding: gzip", bomb) },
            options: .local { $0.bodyLimit = 1 << 20 }
        ) { client, server in
            let outcome = client.fetch(server.url("/"))
            #expect(outcome.error?.limit == 1 << 20)
            #expect(outcome.body.count <= 1 << 20)
        }
    }

    @Test func `a compressed body is decoded, piece by piece, also when its transfer is paused in between`()
        throws
    {
        let packed = try Tool.python(
            "import gzip,sys; sys.stdout.buffer.write(gzip.compress(bytes(8 << 20)))")
        try withServer({ try $0.answer("200 OK", "Content-Encoding: gzip", packed) }) { client, server in
            let outcome = client.fetch(server.url("/"))
            #expect(outcome.error == nil && outcome.body.count == 8 << 20)
            #expect(
                server.requests.entries[0].contains("Accept-Encoding: ")
                    && server.requests.entries[0].contains("gzip"))
        }
    }

    @Test func `a loop of redirects ends at the limit, and a limit of none shows the redirect`() throws {
        let answer: @Sendable (Exchange) throws -> Void = { try $0.answer("302 Found", "Location: /again") }
        try withServer(answer) { client, server in
            #expect(client.fetch(server.url("/")).error?.limit == 10)
            #expect(server.requests.entries.count == 11)
        }
        try withServer(answer, options: .local { $0.redirectLimit = 0 }) { client, server in
            let outcome = client.fetch(server.url("/"))
            #expect(outcome.error == nil && outcome.response?.status == 302)
            #expect(outcome.text == "Hello, world!")
        }
    }

    // Guarantees: A transfer follows a redirect from `http` to `https`, never from `https` to `http`, and none to another scheme.
    @Test func `a redirect to another scheme is refused`() throws {
        for target in ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/x"] {
            try withServer({ try $0.answer("302 Found", "Location: \(target)") }) { client, server in
                let outcome = client.fetch(server.url("/"))
                guard outcome.error?.reason == .redirectRefused else {
                    Issue.record("\(target): \(outcome.error.map { "\($0)" } ?? "no error")")
                    return
                }
                #expect(outcome.body.isEmpty)
            }
        }
    }

    @Test func `credentials are not sent on to another host`() throws {
        try withServer { client, other in
            let first = try Server { try $0.answer("302 Found", "Location: http://localhost:\(other.port)/") }
            defer { first.stop() }
            let request = HTTPClient.Request(
                first.url("/"),
                headerFields: ["Authorization": "Bearer secret", "Cookie": "secret", "X-Plain": "1"])
            #expect(client.fetch(request).error == nil)
            #expect(first.requests.entries[0].contains("Bearer secret"))
            let head = other.requests.entries[0]
            #expect(head.contains("X-Plain") && !head.contains("secret"))
        }
    }

    @Test func `a reset at any byte is an error, and the next transfer succeeds`() throws {
        let answer =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n5\r\nabcde\r\n3\r\nfgh\r\n0\r\n\r\n"
        for count in 0..<answer.utf8.count {
            try withServer({ exchange in
                if exchange.path == "/good" { return try exchange.send(answer) }
                try exchange.send(Array(answer.utf8.prefix(count)))
                if count.isMultiple(of: 2) { exchange.reset() } else { exchange.close() }
            }) { client, server in
                let outcome = client.fetch(server.url("/"))
                #expect(outcome.error != nil, "after \(count) bytes")
                #expect("abcdefgh".hasPrefix(outcome.text))
                #expect(outcome.calls.last == "end")
                #expect(client.fetch(server.url("/good")).text == "abcdefgh")
            }
        }
    }

    @Test func `the text of an error quotes a server without control characters, and not without end`() throws
    {
        for place in ["gopher://a/\u{1b}]0;x\u{7}", "ftp://a/" + String(repeating: "x", count: 10_000)] {
            try withServer({ try $0.answer("302 Found", "Location: \(place)") }) { client, server in
                let error = try #require(client.fetch(server.url("/")).error)
                #expect(error.reason == .redirectRefused && error.details.unicodeScalars.count <= 301)
                #expect(error.description.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f })
            }
        }
    }
}
