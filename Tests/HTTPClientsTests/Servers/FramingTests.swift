import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Answers whose end is doubtful: another program on the path could take a part of the body for the next answer.
@Suite struct FramingTests {
    private func fetch(_ answer: String, _ check: @escaping @Sendable (Outcome) -> Void) throws {
        try withServer({ exchange in
            try exchange.send(answer)
            exchange.close()
        }) { client, server in check(client.fetch(server.url("/"))) }
    }

    private func isRefused(_ answer: String) throws {
        try fetch(answer) { outcome in
            guard outcome.error?.reason == .invalidResponse else {
                Issue.record("\(answer.debugDescription): \(outcome.error.map { "\($0)" } ?? "complete")")
                return
            }
        }
    }

    // Guarantees: An answer whose header leaves doubt about the end of its body is an error.
    @Test(arguments: [
        "12345678901234567890123", "5a", "0x5", "+5", "-5", "5, 5", "5 5", "5;", "", "1e1", "5\u{B}",
        "\u{0665}",
    ])
    func `a length that is not a number in decimal digits is an error`(length: String) throws {
        try isRefused("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nabcde")
    }

    // Guarantees: An answer whose header leaves doubt about the end of its body is an error.
    @Test(arguments: [
        "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5", "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: gzip", "Transfer-Encoding: br", "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: xchunked", "Transfer-Encoding: \u{B}chunked", "Transfer-Encoding:\r\n chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Content-Length:\r\n 5",
        "Content-Length: 1\r\n 5",
    ])
    func `fields that contradict each other, or name a coding nobody asked for, are an error`(fields: String)
        throws
    {
        try isRefused("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n5\r\nabcde\r\n0\r\n\r\n")
    }

    @Test func `chunks in HTTP/1.0 and lengths of interim answers are an error`() throws {
        try isRefused("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n")
        try isRefused("HTTP/1.1 103 Early Hints\r\nContent-Length: 3\r\n\r\nHTTP/1.1 200 OK\r\n\r\nabcde")
    }

    @Test(arguments: [
        "5x", "5 x", "x", "", "0x5", "+5", "-5", "5\u{0}", "5;a\u{0}", "5\r", "5;a\rb", "0000000000000005",
        "fffffffffffffff",
    ])
    func `a chunk with a wrong size is an error`(size: String) throws {
        try fetch("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\nabcde\r\n0\r\n\r\n") {
            outcome in
            switch outcome.error?.reason {
            // A chunk may be large, so what follows is missing.
            case .invalidResponse, .connectionLost, .bodyTooLarge: break
            default: Issue.record("\(size.debugDescription): \(outcome.error.map { "\($0)" } ?? "complete")")
            }
        }
    }

    // Guarantees: A body that is cut, or whose compression or chunks are broken, is never reported as complete.
    @Test(arguments: [
        "5\nabcde\r\n0\r\n\r\n", "5\r\nabcde\n0\r\n\r\n", "5\r\nabcde\r\n0\n\r\n", "5\r\nabcde\r\n0\r\n\n",
        "5\r\nabcdef\r\n0\r\n\r\n", "5\r\nabcde\r\n0\r\nA: b\n\r\n", "5\r\nabcde\r\n0\r\nA: b\rc\r\n\r\n",
        "5\r\nabcde\r\n0\r\n", "5\r\nabcde\r\n0", "5\r\nabcde\r\n", "5\r\nabcde\r\n0\r\nA: b\r\n",
    ])
    func `chunks with wrong or missing line breaks are an error`(chunks: String) throws {
        try fetch("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)") { outcome in
            #expect(outcome.error != nil, "\(chunks.debugDescription)")
        }
    }

    @Test func `chunks with extensions, white space and trailers are read`() throws {
        let chunks = "2;a=b\r\nab\r\n2 ;c\r\ncd\r\n1\t\r\ne\r\n000\r\nTrailer: x\r\nOther: y\r\n\r\n"
        try fetch("HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n\(chunks)") { outcome in
            #expect(outcome.error == nil && outcome.text == "abcde")
            #expect(outcome.response?.headerFields.map(\.name) == ["transfer-encoding"])
        }
    }

    @Test(arguments: [
        "A: b\nC: d", "A: b\rC: d", "A: b\r\r\nC: d", "A\u{0}: b", "A: b\u{0}c", "no colon", "A : b", ": b",
        " A: b", "A b: c", "A: b\r\nHTTP/1.1 200 OK",
    ])
    func `a line of the header that is not a field is an error`(line: String) throws {
        try fetch("HTTP/1.1 200 OK\r\n\(line)\r\nContent-Length: 5\r\n\r\nabcde") { outcome in
            #expect(outcome.error != nil && outcome.response == nil, "\(line.debugDescription)")
        }
    }

    @Test(arguments: [
        "HTTP/1.1 2000 OK", "HTTP/1.1 20 OK", "HTTP/1.1  200 OK", "HTTP/1.1 099 OK", "HTTP/1.1 200x OK",
        "HTTP/1.1\t200",
        "HTTP/11 200 OK", "HTTP/1. 200 OK",
    ])
    func `a wrong status line is an error`(line: String) throws {
        try fetch("\(line)\r\nContent-Length: 5\r\n\r\nabcde") { outcome in
            #expect(outcome.error != nil && outcome.response == nil, "\(line.debugDescription)")
        }
    }

    @Test func `a field that is folded is one field, with a space in place of the line break`() throws {
        let fields =
            "Content-Type: multipart/related;\r\n\tboundary=\"xyz\";\r\n   type: text\r\nContent-Length: 2\r\nA: \r\n b"
        try fetch("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nok") { outcome in
            #expect(outcome.error == nil && outcome.text == "ok")
            #expect(
                outcome.response?.headerFields["Content-Type"]
                    == "multipart/related; boundary=\"xyz\"; type: text")
            #expect(outcome.response?.headerFields["A"] == "b")
            #expect(outcome.response?.headerFields.map(\.name) == ["Content-Type", "Content-Length", "A"])
        }
    }

    @Test func `a switch of protocols that was not asked for is an error`() throws {
        try isRefused("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nabc")
    }

    @Test func `characters that are line breaks in Unicode only are part of a value`() throws {
        for letter in ["\u{85}", "\u{2028}", "\u{B}", "\u{C}"] {
            try fetch("HTTP/1.1 200 OK\r\nA: b\(letter)c\r\nContent-Length: 2\r\n\r\nok") { outcome in
                #expect(outcome.error == nil && outcome.response?.headerFields["A"] == "b\(letter)c")
                #expect(outcome.response?.contentLength == 2)
            }
        }
    }

    @Test func `an answer without a body may have the fields of one`() throws {
        try withServer({ exchange in
            let status = exchange.path == "/304" ? "304 Not Modified" : "200 OK"
            try exchange.send(
                "HTTP/1.1 \(status)\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n")
        }) { client, server in
            for request in [
                HTTPClient.Request(server.url("/"), method: "HEAD"), HTTPClient.Request(server.url("/304")),
            ] {
                let outcome = client.fetch(request)
                #expect(outcome.error == nil && outcome.body.isEmpty)
            }
            #expect(server.connections.count == 1)
        }
    }

    /// Each chunk takes time, so libcurl may not deliver as many in one call as it likes.
    @Test func `chunks of one byte are held back after some thousand of them`() throws {
        let count = 300_000
        let chunks = Array(String(repeating: "1\r\nx\r\n", count: 1_000).utf8)
        try withServer({ exchange in
            try exchange.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in 0..<(count / 1_000) { try exchange.send(chunks) }
            try exchange.send("0\r\n\r\n")
        }) { client, server in
            var (size, largest, ended) = (0, 0, false)
            client.start(HTTPClient.Request(server.url("/"))) { transfer in
                transfer.onData { _, bytes in
                    size += bytes.byteCount
                    largest = max(largest, bytes.byteCount)
                }
                transfer.onEnd { _, error in
                    #expect(error == nil)
                    ended = true
                }
            }
            client.loop.run(in: .network, until: "it has ended") { ended }
            #expect(size == count && largest <= 1_024 + 2_732)
        }
    }

    @Test func `a header of many lines, or of many that continue a field, is an error`() throws {
        func header(_ lines: String, _ count: Int) -> String {
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: b\r\n\(String(repeating: lines, count: count))\r\nok"
        }
        for (lines, count) in [("a:\r\n", 1_020), (" x\r\n", 64)] {
            try fetch(header(lines, count)) { #expect($0.error == nil && $0.text == "ok") }
            try isRefused(header(lines, count + 1))
        }
        try isRefused(String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 600) + header("", 0))
    }

    @Test func `a status line with HTTP/2 is refused without TLS`() throws {
        try isRefused("HTTP/2 200 OK\r\nContent-Length: 2\r\n\r\nok")
    }

    @Test func `framing without end is cut off`() throws {
        let starts = ["5;", "5;a=", "5\r\nabcde\r\n0\r\nA: "]
        for start in starts {
            try withServer({ exchange in
                try exchange.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(start)")
                while true { try exchange.send([UInt8](repeating: 0x61, count: 65_536)) }
            }) { client, server in
                #expect(client.fetch(server.url("/")).error != nil, "\(start.debugDescription)")
            }
        }
    }
}
