import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Bodies that are compressed.
@Suite struct CodingTests {
    /// Bodies made by Python, each a file of a program: `name: expression of the bytes`.
    private static func bodies(_ expressions: [String]) throws -> [[UInt8]] {
        let program = """
            import gzip, zlib, random, sys
            random.seed(1)
            noise = bytes(random.randrange(256) for _ in range(3000))
            def bare(data):
                c = zlib.compressobj(wbits=-15)
                return c.compress(data) + c.flush()
            for body in [\(expressions.joined(separator: ", "))]:
                sys.stdout.buffer.write(len(body).to_bytes(4, "big") + body)
            """
        var bytes = try Tool.python(program)[...]
        return expressions.map { _ in
            let count = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            let body = Array(bytes.dropFirst(4).prefix(count))
            bytes = bytes.dropFirst(4 + count)
            return body
        }
    }

    /// Fetches bodies, with a length and in chunks of one byte.
    private func fetch(
        _ coding: String, _ expressions: [String], options: HTTPClient.Options = .local(),
        _ check: @escaping @Sendable (Int, Outcome) -> Void
    ) throws {
        let bodies = try CodingTests.bodies(expressions)
        try withServer(
            { exchange in
                let parts = exchange.path.split(separator: "/")
                let body = bodies[Int(parts[0]) ?? 0]
                if parts[1] == "length" {
                    return try exchange.answer("200 OK", "Content-Encoding: \(coding)", body)
                }
                try exchange.send(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nTransfer-Encoding: chunked\r\n\r\n")
                for byte in body { try exchange.send(Array("1\r\n".utf8) + [byte] + Array("\r\n".utf8)) }
                try exchange.send("0\r\n\r\n")
            }, options: options
        ) { client, server in
            for index in bodies.indices {
                for form in ["length", "chunks"] {
                    check(index, client.fetch(server.url("/\(index)/\(form)")))
                }
            }
        }
    }

    @Test(arguments: ["gzip", "x-gzip", "GZIP", "identity, gzip"])
    func `a gzip body is decoded, with all its members`(coding: String) throws {
        let texts = ["first;", "first;second;", "", ""]
        try fetch(
            coding,
            [
                "gzip.compress(b'first;')", "gzip.compress(b'first;') + gzip.compress(b'second;')",
                "gzip.compress(b'')",
                "b''",
            ]
        ) { index, outcome in
            #expect(outcome.error == nil && outcome.text == texts[index], "\(index)")
        }
    }

    @Test func `a deflate body is decoded in both of its forms`() throws {
        try fetch(
            "deflate",
            ["zlib.compress(b'text')", "bare(b'text')", "bare(noise) ", "zlib.compress(noise)", "b''"]
        ) {
            index, outcome in
            #expect(outcome.error == nil)
            #expect([4, 4, 3_000, 3_000, 0][index] == outcome.body.count)
        }
    }

    // Guarantees: A body that is cut, or whose compression or chunks are broken, is never reported as complete.
    @Test(arguments: ["gzip", "deflate"])
    func `a body that is cut, continued or damaged is an error`(coding: String) throws {
        let compress = coding == "gzip" ? ["gzip.compress"] : ["zlib.compress", "bare"]
        for compress in compress {
            let whole = "\(compress)(noise)"
            var expressions = [
                "\(whole)[:1500]", "\(whole)[:-1]", "\(whole)[:1]", "\(whole) + b'\\0'", "\(whole) + b'x'",
                "\(whole) + \(whole)[:5]", "b'abcdef'",
            ]
            if compress != "bare" {
                expressions.append("\(whole)[:-6] + b'\\0' * 6")
                expressions.append("\(whole)[:-5] + bytes([\(whole)[-5] ^ 1]) + \(whole)[-4:]")
            }
            try fetch(coding, expressions) { [expressions] index, outcome in
                guard let error = outcome.error, error.reason == .invalidResponse else {
                    Issue.record("\(expressions[index]): \(outcome.error.map { "\($0)" } ?? "complete")")
                    return
                }
                #expect(error.details.contains("decoded"))
            }
        }
    }

    @Test func `a coding that was not offered is an error, unless the user has named the codings`() throws {
        for coding in ["br", "zstd", "gzip, gzip", "compress", "unknown"] {
            try withServer({ try $0.answer("200 OK", "Content-Encoding: \(coding)", [1, 2, 3]) }) {
                client, server in
                guard client.fetch(server.url("/")).error?.reason == .invalidResponse else {
                    Issue.record("\(coding)")
                    return
                }
                var request = HTTPClient.Request(server.url("/"))
                request.headerFields["Accept-Encoding"] = coding
                let outcome = client.fetch(request)
                #expect(outcome.error == nil && outcome.body == [1, 2, 3])
                #expect(server.requests.entries[0].contains("Accept-Encoding: gzip, deflate\r\n"))
                #expect(server.requests.entries[1].contains("Accept-Encoding: \(coding)\r\n"))
            }
        }
    }

    @Test func `without compression nothing is offered and nothing is decoded`() throws {
        try withServer(
            { try $0.answer("200 OK", "Content-Encoding: gzip", [1, 2, 3]) },
            options: .local { $0.acceptsCompression = false }
        ) { client, server in
            let outcome = client.fetch(server.url("/"))
            #expect(outcome.error == nil && outcome.body == [1, 2, 3])
            #expect(!server.requests.entries[0].contains("Accept-Encoding"))
        }
    }

    @Test func `a part of a body is asked for, and delivered, as it is`() throws {
        try withServer({ try $0.answer("206 Partial Content", "Content-Encoding: gzip", [1, 2, 3]) }) {
            client, server in
            let outcome = client.fetch(
                HTTPClient.Request(server.url("/"), headerFields: ["Range": "bytes=5-7"]))
            #expect(outcome.error == nil && outcome.body == [1, 2, 3])
            #expect(server.requests.entries[0].contains("Accept-Encoding: identity\r\n"))
            #expect(!server.requests.entries[0].contains("gzip"))
        }
    }

    @Test func `bytes that decode to nothing end at the limit of the body`() throws {
        let empty = try CodingTests.bodies(["gzip.compress(b'')"])[0]
        let many = [UInt8]((0..<4_096).map { _ in empty }.joined())
        try withServer(
            { exchange in
                try exchange.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
                while true { try exchange.send(many) }
            }, options: .local { $0.bodyLimit = 1 << 20 }
        ) { client, server in
            #expect(client.fetch(server.url("/")).error?.limit == 1 << 20)
        }
    }

    // Guarantees: A body is decoded in steps, and a pass makes no more of them than its budget allows.
    @Test func `a pass decodes only what its budget allows, and other inputs have their turn`() throws {
        // Decodes to 16 MiB.
        let bomb = try CodingTests.bodies(["gzip.compress(bytes(16 << 20))"])[0]
        try withServer({ try $0.answer("200 OK", "Content-Encoding: gzip", bomb) }) { client, server in
            var (calls, most, blocks, size) = (0, 0, 0, 0)
            let observer = RunLoop.Observer(activities: .beforeTimers) { _, _ in
                most = max(most, calls)
                calls = 0
            }
            client.loop.add(observer, forMode: .network)
            let timer = Timer(timeInterval: .microseconds(1), repeats: true) { _ in blocks += 1 }
            client.loop.add(timer, forMode: .network)
            for _ in 0..<4 {
                client.start(HTTPClient.Request(server.url("/"))) { transfer in
                    transfer.onData { _, bytes in
                        calls += 1
                        size += bytes.byteCount
                        #expect(bytes.byteCount <= 32 << 10)
                    }
                    transfer.onEnd { _, error in #expect(error == nil) }
                }
            }
            client.loop.run(in: .network, until: "all have ended") { client.transferCount == 0 }
            #expect(size == 4 * 16 << 20)
            timer.invalidate()
            #expect(most <= 128 && blocks > 4 * 512 / 128)
        }
    }

    // Guarantees: A paused transfer delivers nothing, makes the server wait, and stores little.
    @Test func `a paused transfer stores no decoded bytes, and is decoded when it goes on`() throws {
        let bomb = try CodingTests.bodies(["gzip.compress(bytes(16 << 20))"])[0]
        try withServer({ try $0.answer("200 OK", "Content-Encoding: gzip", bomb) }) { client, server in
            let (transfer, outcome) = client.record(HTTPClient.Request(server.url("/")))
            transfer.isReadingPaused = true
            client.loop.run(in: .network, until: "the header is there") { outcome.response != nil }
            client.loop.run(in: .network, until: .now + .milliseconds(20))
            #expect(transfer.receivedByteCount == 0 && transfer.isOpen)
            transfer.isReadingPaused = false
            client.loop.run(in: .network, until: "it has ended") { outcome.hasEnded }
            #expect(outcome.error == nil && outcome.body.count == 16 << 20)
        }
    }
}
