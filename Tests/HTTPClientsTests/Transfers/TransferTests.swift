import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Transfers from begin to end.
@Suite struct TransferTests {
    // Guarantees: The header comes first, then the bytes in order, and the end once and last.
    @Test func `a response comes first, then its bytes, then the end`() throws {
        try withServer { client, server in
            let outcome = client.fetch(server.url("/hello"))
            #expect(outcome.calls == ["response 200", "data", "end"])
            #expect(outcome.text == "Hello, world!")
            #expect(outcome.error == nil)
            #expect(outcome.response?.url == server.url("/hello"))
            #expect(outcome.response?.version == "1.1")
            #expect(outcome.response?.contentLength == 13)
            #expect(server.requests.entries[0].hasPrefix("GET /hello HTTP/1.1\r\nHost: 127.0.0.1:"))
        }
    }

    @Test func `a run in the client's mode goes on until its transfers have ended, and no longer`() throws {
        try withServer { client, server in
            let (_, outcome) = client.record(HTTPClient.Request(server.url("/")))
            #expect(client.loop.run(in: .network, until: .hang) == .finished)
            #expect(outcome.calls == ["response 200", "data", "end"])
            #expect(client.transferCount == 0)
            #expect(client.loop.run(in: .network, until: .hang) == .finished)
        }
    }

    // Guarantees: Handlers are called only while the loop runs in the client's mode, when the client is invalidated, and at the end
    // of the thread.
    @Test func `in another mode nothing of a transfer is served`() throws {
        try withServer { client, server in
            let other = RunLoop.Mode("other")
            let (_, outcome) = client.record(HTTPClient.Request(server.url("/")))
            var fired = 0
            client.loop.add(
                Timer(fireAt: .now, interval: .milliseconds(1), repeats: true) { _ in fired += 1 },
                forMode: other)
            client.loop.run(in: other, until: "the other mode has run") { fired >= 20 }
            #expect(outcome.calls.isEmpty)
            client.loop.run(in: .network, until: "it has ended") { outcome.hasEnded }
            #expect(outcome.text == "Hello, world!")
        }
    }

    @Test func `transfers use connections again, and at most six for a host`() throws {
        try withServer { client, server in
            var ended = 0
            for _ in 0..<60 {
                client.start(HTTPClient.Request(server.url("/"))) { transfer in
                    transfer.onEnd { _, error in
                        #expect(error == nil)
                        ended += 1
                    }
                }
            }
            client.loop.run(in: .network, until: "all have ended") { ended == 60 }
            #expect(server.connections.count <= 6)
        }
    }

    @Test func `methods, fields and bodies arrive as they are`() throws {
        try withServer({ exchange in
            let body = try exchange.body()
            try exchange.answer("200 OK", "X-Method: \(exchange.method)", body)
        }) { client, server in
            for method in [.post, .put, .patch, .delete] as [HTTPRequest.Method] {
                for size in [0, 5, 200_000] {
                    var request = HTTPClient.Request(
                        server.url("/"), method: method, headerFields: ["X-Empty": "", "X-Two": "a"])
                    request.headerFields.append(HTTPField(name: "X-Two", value: "b"))
                    request.body = .bytes((0..<size).map { UInt8(truncatingIfNeeded: $0) })
                    let outcome = client.fetch(request)
                    #expect(outcome.response?.headerFields["x-method"] == method.rawValue)
                    #expect(outcome.body == (0..<size).map { UInt8(truncatingIfNeeded: $0) })
                    let head = server.requests.entries.last ?? ""
                    #expect(head.contains("X-Empty:\r\n") && head.contains("X-Two: a\r\nX-Two: b\r\n"))
                    #expect(!head.contains("Expect") && !head.contains("Content-Type"))
                }
            }
            #expect(
                client.fetch(HTTPClient.Request(server.url("/"), method: "DELETE")).response?.headerFields[
                    "x-method"]
                    == "DELETE")
            #expect(
                client.fetch(HTTPClient.Request(server.url("/"), method: "POST")).response?.headerFields[
                    "x-method"]
                    == "POST")
        }
    }

    @Test func `the answer to a HEAD request has no body`() throws {
        try withServer({ try $0.send("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n") }) { client, server in
            let outcome = client.fetch(HTTPClient.Request(server.url("/"), method: "HEAD"))
            #expect(outcome.calls == ["response 200", "end"])
            #expect(outcome.response?.contentLength == 50)
            #expect(outcome.error == nil)
        }
    }

    // Guarantees: No handler of a client is called inside another handler of the same client.
    @Test func `a handler starts, cancels and pauses others, and none is called inside it`() throws {
        try withServer({ try $0.path == "/never" ? $0.waitForEnd() : $0.answer() }) { client, server in
            var depth = 0
            var order: [String] = []
            let never = client.start(HTTPClient.Request(server.url("/never"))) { transfer in
                transfer.onEnd { _, error in
                    #expect(depth == 0)
                    order.append("never, \(error?.reason == .cancelled)")
                }
            }
            func go(_ name: String, then: @escaping () -> Void = {}) {
                client.start(HTTPClient.Request(server.url("/"))) { transfer in
                    transfer.onData { _, _ in
                        depth += 1
                        #expect(depth == 1)
                        client.loop.run(in: .network, until: .now + .milliseconds(2))
                        depth -= 1
                    }
                    transfer.onEnd { _, error in
                        order.append(name)
                        then()
                    }
                }
            }
            go("first") {
                go("second") { never.cancel() }
            }
            #expect(client.loop.run(in: .network, until: .hang) == .finished)
            #expect(order == ["first", "second", "never, true"])
        }
    }

    @Test func `a client that a handler invalidates ends the other transfers, once each`() throws {
        try withServer({ try $0.path == "/never" ? $0.waitForEnd() : $0.answer() }) { client, server in
            let others = (0..<4).map { _ in client.record(HTTPClient.Request(server.url("/never"))).1 }
            let (_, one) = client.record(HTTPClient.Request(server.url("/")))
            client.start(HTTPClient.Request(server.url("/"))) { transfer in
                transfer.onData { _, _ in
                    client.invalidate()
                    #expect(others.allSatisfy { !$0.hasEnded }, "their handlers wait for this one")
                }
            }
            client.loop.run(in: .network, until: "they have ended") { others.allSatisfy { $0.hasEnded } }
            #expect(others.allSatisfy { $0.error?.reason == .clientInvalidated && $0.calls == ["end"] })
            #expect(one.hasEnded)
            #expect(!client.isValid && client.transferCount == 0)
            let (late, outcome) = client.record(HTTPClient.Request(server.url("/")))
            #expect(!late.isOpen && !outcome.hasEnded)
        }
    }

    @Test func `a client that is held no more ends with its last transfer`() throws {
        let alive = Shared()
        let server = try Server { try $0.answer() }
        defer { server.stop() }
        try onLoopThread { loop in
            let outcome = Outcome()
            do {
                let client = try HTTPClient(mode: .network, options: .local())
                let counted = Counted(alive)
                client.start(HTTPClient.Request(server.url("/"))) { transfer in
                    outcome.watch(transfer)
                    transfer.onResponse { _, _ in withExtendedLifetime(counted) {} }
                }
            }
            #expect(alive.count == 1)
            #expect(loop.run(in: .network, until: .hang) == .finished)
            #expect(outcome.text == "Hello, world!")
            #expect(alive.count == 0)
        }
    }

    // Guarantees: Handlers are called only while the loop runs in the client's mode, when the client is invalidated, and at the end
    // of the thread.
    @Test func `a thread that ends with a transfer under way calls its end there`() throws {
        let server = try Server { $0.waitForEnd() }
        defer { server.stop() }
        let log = Log<String>()
        let thread = try RunLoopThread(name: "network")
        let started = Gate()
        thread.runLoop.perform {
            do {
                let client = try HTTPClient(options: .local())
                client.start(HTTPClient.Request(server.url("/"))) { transfer in
                    transfer.onEnd { _, error in
                        log.add("\(error?.reason == .clientInvalidated) \(RunLoop.current.name)")
                        withExtendedLifetime(client) {}
                    }
                }
            } catch { Issue.record(error) }
            started.open()
        }
        #expect(started.wait())
        thread.stop()
        #expect(thread.join(before: .hang))
        #expect(log.entries == ["true network"])
    }

    @Test func `an invalid request ends in the next pass, and not inside the call`() throws {
        try withServer { client, server in
            let requests = [
                HTTPClient.Request("file:///etc/passwd"), HTTPClient.Request("gopher://127.0.0.1/"),
                HTTPClient.Request("no url"),
                HTTPClient.Request(server.url("/"), method: .connect),
                HTTPClient.Request(server.url("/"), headerFields: [.contentLength: "3"]),
                HTTPClient.Request(server.url("/"), headerFields: ["transfer-encoding": "chunked"]),
            ]
            for request in requests {
                let (_, outcome) = client.record(request)
                #expect(!outcome.hasEnded)
                #expect(client.loop.run(in: .network, until: .hang) == .finished)
                #expect(outcome.calls == ["end"])
                #expect(
                    [.unsupportedURL, .invalidRequest].contains(outcome.error?.reason),
                    "\(request): \(outcome.error.map { "\($0)" } ?? "no error")")
            }
            #expect(server.requests.entries.isEmpty)
        }
    }

    // Guarantees: A field of a request never adds another field.
    @Test func `a field never adds another field`() throws {
        try withServer { client, server in
            var request = HTTPClient.Request(server.url("/"))
            request.headerFields["A"] = "b\r\nC: d"
            request.headerFields.append(HTTPField(name: "E", value: "\nf\0g\r\n\r\nGET / HTTP/1.1\r\n"))
            #expect(client.fetch(request).error == nil)
            let head = server.requests.entries[0]
            #expect(head.contains("\r\nA: b  C: d\r\n") && !head.contains("\r\nC:"))
            #expect(head.contains("\r\nE: f g    GET / HTTP/1.1\r\n"))
            #expect(server.requests.entries.count == 1)
        }
    }
}
