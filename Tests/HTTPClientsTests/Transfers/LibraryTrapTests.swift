import CFaults
import CTraps
import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// The traps of libcurl that no option avoids: a program that uses libcurl alone falls into each, and the client does not.
@Suite struct LibraryTrapTests {
    /// Downloads with libcurl alone, and blocks until the end.
    private static func download(
        _ url: String, _ trap: traps_trap = traps_none, limit: Int64 = 0
    ) -> traps_findings {
        // Safe: C reads the string during the call.
        unsafe traps_download(url, trap, limit)
    }

    /// The number of bytes that the client stores, with the last piece of libcurl's.
    private static let mostStored = (128 << 10) + (16 << 10)

    @Test func `libcurl refuses to be called in its write function, and handlers may call it`() throws {
        try withServer({ try $0.path == "/never" ? $0.waitForEnd() : $0.answer() }) { client, server in
            let before = faults_refused_multi_calls()
            let never = client.start(HTTPClient.Request(server.url("/never"))) { _ in }
            let second = Outcome()
            client.start(HTTPClient.Request(server.url("/"))) { transfer in
                transfer.onData { _, _ in
                    never.cancel()
                    client.start(HTTPClient.Request(server.url("/"))) { second.watch($0) }
                }
            }
            #expect(client.loop.run(in: .network, until: .hang) == .finished)
            #expect(second.text == "Hello, world!")
            #expect(faults_refused_multi_calls() == before)
            let alone = LibraryTrapTests.download(server.url("/"), traps_multi_in_write)
            #expect(alone.code == 0)
            #expect(faults_refused_multi_calls() > before)
        }
    }

    @Test func `libcurl refuses to be called in its timer function, which only stores the time`() throws {
        try withServer { client, server in
            let before = faults_refused_multi_calls()
            #expect(client.fetch(server.url("/")).text == "Hello, world!")
            #expect(faults_refused_multi_calls() == before)
            let alone = LibraryTrapTests.download(server.url("/"), traps_multi_in_timer)
            #expect(alone.code == -1, "the transfer never begins")
            #expect(faults_refused_multi_calls() > before)
        }
    }

    /// The write to the body resumes both directions, so libcurl delivers the bytes that it has held back.
    // Guarantees: No handler of a client is called inside another handler of the same client.
    @Test(arguments: [false, true])
    func `bytes that libcurl delivers inside a handler reach the next call, and no call after a cancel`(
        cancels: Bool
    ) throws {
        let pieces = (0..<255).map { [UInt8](repeating: UInt8($0), count: 1 << 16) }
        let sent = Shared()
        try withServer({ exchange in
            try exchange.send("HTTP/1.1 200 OK\r\nContent-Length: \(pieces.count << 16)\r\n\r\n")
            for piece in pieces {
                try exchange.send(piece)
                sent.increment()
            }
            exchange.waitForEnd()
        }) { client, server in
            var request = HTTPClient.Request(server.url("/"), method: "PUT")
            request.body = .stream(contentLength: nil)
            let outcome = Outcome()
            var (depth, calls, callsInside) = (0, 0, 0)
            let transfer = client.start(request) { transfer in
                outcome.watch(transfer)
                transfer.onData { transfer, bytes in
                    depth += 1
                    defer { depth -= 1 }
                    calls += 1
                    #expect(depth == 1)
                    let received = transfer.receivedByteCount
                    transfer.write([1])
                    if transfer.receivedByteCount > received { callsInside += 1 }
                    // Safe: the bytes are copied during the call.
                    unsafe bytes.withUnsafeBytes { unsafe outcome.body.append(contentsOf: $0) }
                    if cancels { return transfer.cancel() }
                    // libcurl ends a transfer when both bodies have ended.
                    if outcome.body.count == pieces.count << 16 { transfer.endBody() }
                }
                transfer.isReadingPaused = true
            }
            var last = -1
            client.loop.run(in: .network, until: "libcurl holds bytes back") {
                defer { last = transfer.receivedByteCount }
                client.loop.run(in: .network, until: .now + .milliseconds(50))
                return sent.count > 3 && last == transfer.receivedByteCount
            }
            transfer.isReadingPaused = false
            #expect(client.loop.run(in: .network, until: .hang) == .finished)
            #expect(callsInside > 0)
            if cancels {
                #expect(calls == 1 && outcome.error?.reason == .cancelled)
            } else {
                #expect(outcome.error == nil && outcome.body == Array(pieces.joined()))
            }
            let alone = LibraryTrapTests.download(server.url("/"), traps_resume)
            #expect(alone.pieces_in_resume > 0)
        }
    }

    @Test func `one call of libcurl delivers more than the client stores, unless bytes are held back`()
        throws
    {
        try withServer({ try $0.answer("200 OK", "", [UInt8](repeating: 1, count: 32 << 20)) }) {
            client, server in
            let alone = LibraryTrapTests.download(server.url("/"), traps_no_bound)
            #expect(alone.count_in_action > LibraryTrapTests.mostStored)
            let bounded = LibraryTrapTests.download(server.url("/"))
            #expect(bounded.count == 32 << 20 && bounded.count_in_action <= LibraryTrapTests.mostStored)
            var largest = 0
            client.start(HTTPClient.Request(server.url("/"))) { transfer in
                transfer.onData { _, bytes in largest = max(largest, bytes.byteCount) }
            }
            #expect(client.loop.run(in: .network, until: .hang) == .finished)
            #expect(largest <= LibraryTrapTests.mostStored)
        }
    }

    @Test func `libcurl's header function gets interim answers and redirects, and a handler does not`()
        throws
    {
        try withServer({ exchange in
            try exchange.send("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n")
            if exchange.path == "/first" {
                try exchange.answer("302 Found", "Location: /second")
            } else {
                try exchange.answer()
            }
        }) { client, server in
            #expect(LibraryTrapTests.download(server.url("/first")).status_lines == 4)
            #expect(client.fetch(server.url("/first")).calls == ["response 200", "data", "end"])
        }
    }

    @Test func `libcurl's limit of the size needs a length, and the client's does not`() throws {
        try withServer(
            { exchange in
                let length = exchange.path == "/length" ? "Content-Length: \(4 << 20)\r\n" : ""
                try exchange.send("HTTP/1.1 200 OK\r\n\(length)\r\n")
                try exchange.send([UInt8](repeating: 1, count: 4 << 20))
                exchange.close()
            }, options: .local { $0.bodyLimit = 1 << 20 }
        ) { client, server in
            let limited = LibraryTrapTests.download(server.url("/length"), limit: 1 << 20)
            #expect(limited.code != 0 && limited.count == 0)
            let unlimited = LibraryTrapTests.download(server.url("/"), limit: 1 << 20)
            // libcurl 8.4 and later end such a transfer, too.
            if traps_version() < 0x080400 { #expect(unlimited.code == 0 && unlimited.count == 4 << 20) }
            for path in ["/length", "/"] {
                let outcome = client.fetch(server.url(path))
                #expect(outcome.error?.limit == 1 << 20)
                #expect(outcome.body.count <= 1 << 20)
            }
        }
    }
}
