import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// The values of requests, responses and errors.
@Suite struct RequestValueTests {
    @Test func `a head of another module becomes a request, unless its parts do not make a URL`() {
        func url(_ scheme: String?, _ authority: String?, _ path: String?) -> String? {
            HTTPClient.Request(
                HTTPRequest(method: .put, scheme: scheme, authority: authority, path: path))?.url
        }
        #expect(url("http", "a.example:80", "/b?c=%20") == "http://a.example:80/b?c=%20")
        #expect(url("https", "[::1]", "/") == "https://[::1]/")
        for (scheme, authority, path) in [
            (nil, "a", "/"), ("http", nil, "/"), ("http", "a", nil), ("http", "", "/"), ("", "a", "/"),
            ("http", "a/b", "/"), ("http", "user@a", "/"), ("http", "a?b", "/"), ("http", "a#b", "/"),
            ("http", "a\\b", "/"), ("http://x", "a", "/"), ("http", "a", "b"), ("http", "a", "*"),
            ("http", "a", ""), ("http", "a", "/b#c"), ("http", "a b", "/"), ("http", "a", "/b c"),
        ] as [(String?, String?, String?)] {
            #expect(
                url(scheme, authority, path) == nil,
                "\(scheme ?? "nil") \(authority ?? "nil") \(path ?? "nil")")
        }
        let request = HTTPClient.Request(
            HTTPRequest(
                method: .post, scheme: "http", authority: "a", path: "/", headerFields: [.accept: "b"]),
            body: .bytes([1]))
        #expect(
            request?.method == .post && request?.headerFields[.accept] == "b" && request?.body == .bytes([1]))
    }

    @Test func `a response has the reason of its status, and all values of its fields`() throws {
        try withServer({
            try $0.send(
                "HTTP/1.1 299 Fine  by me\r\nA: 1\r\nSet-Cookie: x\r\na: 2\r\nContent-Length: 0\r\n\r\n")
        }) { client, server in
            let head = try #require(client.fetch(server.url("/")).response)
            #expect(head.status == 299 && head.status.reasonPhrase == "Fine  by me")
            #expect(head.headerFields[values: "A"] == ["1", "2"] && head.headerFields["a"] == "1, 2")
            #expect(head.headerFields.map(\.name.rawName) == ["A", "Set-Cookie", "a", "Content-Length"])
            #expect(head.contentLength == 0)
            #expect(head.httpResponse == HTTPResponse(status: 299, headerFields: head.headerFields))
            #expect("\(head)" == "299 from \(server.url("/"))")
        }
        for line in ["HTTP/1.1 200", "HTTP/1.1 200 "] {
            try withServer({ try $0.send("\(line)\r\nContent-Length: 0\r\n\r\n") }) { client, server in
                let head = try #require(client.fetch(server.url("/")).response)
                #expect(head.status == 200 && head.status.reasonPhrase == "")
            }
        }
    }

    @Test func `bytes of a value that are not UTF-8 are kept`() throws {
        try withServer({
            try $0.send(
                Array("HTTP/1.1 200 OK\r\nA: ".utf8) + [0x61, 0xff, 0x01]
                    + Array("\r\nContent-Length: 0\r\n\r\n".utf8))
        }) { client, server in
            let field = try #require(client.fetch(server.url("/")).response?.headerFields[fields: "A"].first)
            // Safe: the bytes are copied during the call.
            #expect(unsafe field.withUnsafeBytesOfValue { unsafe Array($0) } == [0x61, 0xff, 0x01])
        }
    }

    @Test func `reasons can be caught, and name what belongs to them`() throws {
        func fail() throws { throw HTTPClientError(.unresolved, details: "no.example") }
        do { try fail() } catch HTTPClientError.Reason.timedOut {
            Issue.record("another reason")
        } catch HTTPClientError.Reason.unresolved {}
        let error = HTTPClientError(.unresolved, details: "no.example")
        #expect("\(error)" == "the host is not known: no.example")
        #expect(
            error.timeout == nil && error.limit == nil && error.systemError == nil && error.curlCode == nil)
        #expect(HTTPClientError(.cancelled) == HTTPClientError(.cancelled))
        #expect(HTTPClientError(.cancelled) != HTTPClientError(.clientInvalidated))
        let idle = HTTPClientError(.timedOut, timeout: .idle)
        #expect(idle.timeout == .idle && "\(idle)" == "idle for too long")
        let large = HTTPClientError(.bodyTooLarge, limit: 7)
        #expect(large.limit == 7 && "\(large)" == "a body of more than 7 bytes")
        let system = SystemError(call: "connect", code: 24)
        #expect(HTTPClientError(.notConnected, systemError: system).systemError == system)
        #expect(HTTPClientError(.other, curlCode: 5).curlCode == 5)
    }

    @Test func `a transfer is equal to itself only`() throws {
        try withServer { client, server in
            let transfers = (0..<2).map { _ in client.start(HTTPClient.Request(server.url("/"))) { _ in } }
            #expect(Set([transfers[0], transfers[1], transfers[0]]).count == 2)
            #expect(client.loop.run(in: .network, until: .hang) == .finished)
        }
    }

    @Test func `a body is written as bytes, as a span and as text`() throws {
        let body = Log<String>()
        try withServer({ exchange in
            body.add(String(decoding: try exchange.body(), as: UTF8.self))
            try exchange.answer()
        }) { client, server in
            let request = HTTPClient.Request(server.url("/"), method: .put, body: .stream(contentLength: nil))
            let transfer = client.start(request) { _ in }
            transfer.write([0x61])
            // Safe: a byte has no padding.
            unsafe transfer.write(([0x62, 0x63] as [UInt8]).span.bytes)
            transfer.write("é")
            transfer.write("xyz".dropFirst())
            transfer.endBody()
            #expect(client.loop.run(in: .network, until: .hang) == .finished)
            #expect(body.entries == ["abcéyz"])
        }
    }

    @Test func `no time limit is no limit`() throws {
        try withServer(
            options: .local {
                $0.connectTimeout = nil
                $0.idleTimeout = nil
            }
        ) { client, server in
            #expect(client.fetch(server.url("/")).text == "Hello, world!")
            #expect(client.fetch("http://localhost:\(server.port)/").text == "Hello, world!")
        }
    }
}
