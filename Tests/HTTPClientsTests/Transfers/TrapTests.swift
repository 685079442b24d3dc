import CFaults
import Glibc
import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import Streams

/// The traps of libcurl, which the client avoids.
@Suite(.serialized) struct TrapTests {
    /// Lets all names that are looked up fail.
    ///
    /// The resolver can ask again in another way, and is held again then.
    static func releaseNames() {
        waitUntil("no name is looked up") {
            faults_release_names()
            return NameResolver.shared.threadCounts.all == 0
        }
    }

    /// If the cancel waited for `getaddrinfo`, it would do so until the test releases the name.
    // Guarantees: A cancel does not wait, whatever the transfer does.
    @Test func `a cancel does not wait for a name that is being resolved`() throws {
        // If the cancel waits, this thread releases the name.
        let hasCancelled = Gate()
        let wasLate = Shared()
        try RunLoopThread.detach(name: "releasing") { _ in
            if hasCancelled.wait(seconds: 20) { return }
            wasLate.increment()
            faults_release_names()
        }
        try onLoopThread { loop in
            let client = try HTTPClient(mode: .network, options: .local())
            let (transfer, outcome) = client.record(HTTPClient.Request("http://a.held.test/"))
            loop.run(in: .network, until: "the name is looked up") { faults_held_names() > 0 }
            transfer.cancel()
            #expect(outcome.calls.isEmpty)
            client.invalidate()
            hasCancelled.open()
            #expect(outcome.calls == ["end"] && outcome.error?.reason == .cancelled)
        }
        #expect(wasLate.count == 0)
        TrapTests.releaseNames()
    }

    @Test func `a name that is not resolved in time ends the transfer, and does not stop the loop`() throws {
        try onLoopThread { loop in
            let client = try HTTPClient(
                mode: .network, options: .local { $0.connectTimeout = .milliseconds(200) })
            let (_, outcome) = client.record(HTTPClient.Request("http://b.held.test/"))
            loop.run(in: .network, until: "it has ended") { outcome.hasEnded }
            #expect(outcome.error?.timeout == .connect)
            #expect(faults_held_names() == 1)
            client.invalidate()
        }
        TrapTests.releaseNames()
    }

    /// `curl_easy_pause` calls the write function, which must find room, and must not call a handler inside another one.
    // Guarantees: No handler of a client is called inside another handler of the same client.
    @Test func `a transfer that goes on inside a handler calls no handler there`() throws {
        try withServer({ try $0.answer("200 OK", "", [UInt8](repeating: 1, count: 2 << 20)) }) {
            client, server in
            var depth = 0
            var outcomes: [(HTTPTransfer, Outcome)] = []
            for _ in 0..<4 {
                let outcome = Outcome()
                let transfer = client.start(HTTPClient.Request(server.url("/"))) { transfer in
                    outcome.watch(transfer)
                    transfer.onData { transfer, bytes in
                        depth += 1
                        #expect(depth == 1)
                        for (other, _) in outcomes {
                            other.isReadingPaused.toggle()
                            other.isReadingPaused.toggle()
                        }
                        // Safe: the bytes are copied during the call.
                        unsafe bytes.withUnsafeBytes { unsafe outcome.body.append(contentsOf: $0) }
                        depth -= 1
                    }
                }
                outcomes.append((transfer, outcome))
            }
            client.loop.run(in: .network, until: "all have ended") { outcomes.allSatisfy { $0.1.hasEnded } }
            #expect(outcomes.allSatisfy { $0.1.body.count == 2 << 20 && $0.1.error == nil })
        }
    }

    // Guarantees: The header comes first, then the bytes in order, and the end once and last.
    @Test func `interim answers and redirects are not shown`() throws {
        try withServer({ exchange in
            if exchange.path == "/first" {
                try exchange.send("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n")
                try exchange.answer("302 Found", "Location: /second\r\nX-One: 1", Array("moved".utf8))
            } else {
                try exchange.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n")
                try exchange.answer("404 Not Found", "X-Two: 2")
            }
        }) { client, server in
            let outcome = client.fetch(server.url("/first"))
            #expect(outcome.calls == ["response 404", "data", "end"])
            #expect(outcome.text == "Hello, world!")
            #expect(outcome.response?.url == server.url("/second"))
            #expect(outcome.response?.headerFields.map(\.name) == ["X-Two", "Content-Length"])
        }
    }

    @Test func `a response is delivered before its first byte is there`() throws {
        let gate = Gate()
        try withServer({ exchange in
            try exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
            #expect(gate.wait())
            try exchange.send("late")
        }) { client, server in
            let (_, outcome) = client.record(HTTPClient.Request(server.url("/")))
            client.loop.run(in: .network, until: "the header is there") { outcome.response != nil }
            #expect(outcome.calls == ["response 200"])
            gate.open()
            client.loop.run(in: .network, until: "it has ended") { outcome.hasEnded }
            #expect(outcome.text == "late")
        }
    }

    /// `CURLOPT_MAXFILESIZE` checks the length in the response, which has none here.
    // Guarantees: The limit of the body counts decoded bytes, whether the server has stated a length or not.
    @Test func `a body without a length is limited, too`() throws {
        try withServer(
            { exchange in
                try exchange.send("HTTP/1.1 200 OK\r\n\r\n")
                for _ in 0..<64 { try exchange.send([UInt8](repeating: 1, count: 1 << 16)) }
                exchange.close()
            }, options: .local { $0.bodyLimit = 1 << 20 }
        ) { client, server in
            let outcome = client.fetch(server.url("/"))
            #expect(outcome.error?.limit == 1 << 20)
            #expect(outcome.body.count <= 1 << 20)
        }
    }

    /// Without `CURLOPT_NOSIGNAL`, libcurl sets the disposition of SIGPIPE for the whole process during its calls.
    @Test func `a server that is gone raises no SIGPIPE, and its disposition stays as it is`() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            try withServer({ exchange in
                exchange.reset()
                exchange.close()
            }) { client, server in
                for _ in 0..<20 {
                    var request = HTTPClient.Request(server.url("/"), method: "PUT")
                    request.body = .stream(contentLength: nil)
                    let (transfer, outcome) = client.record(request)
                    client.loop.run(in: .network, until: "it has ended") {
                        transfer.write([UInt8](repeating: 1, count: 100_000))
                        return outcome.hasEnded
                    }
                    var action = sigaction()
                    unsafe sigaction(SIGPIPE, nil, &action)
                    #expect(unsafe action.__sigaction_handler.sa_handler == nil, "SIG_DFL")
                }
            }
        }
    }

    // By default, OpenSSL frees at exit what other threads may use, or free when they end.
    @Test func `OpenSSL frees no memory at exit`() async {
        await #expect(processExitsWith: .success) {
            try onLoopThread { loop in try HTTPClient(mode: .network).invalidate() }
            #expect(faults_forbid_openssl_cleanup())
        }
    }

    @Test func `a transfer is idle if no byte moves, and not if one does now and then`() throws {
        try withServer(
            { exchange in
                if exchange.path == "/stuck" { return exchange.waitForEnd() }
                try exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n")
                for _ in 0..<12 {
                    usleep(300_000)
                    try exchange.send("x")
                }
            }, options: .local { $0.idleTimeout = .seconds(3) }
        ) { client, server in
            let start = ContinuousClock.now
            let (_, slow) = client.record(HTTPClient.Request(server.url("/slow")))
            let (_, stuck) = client.record(HTTPClient.Request(server.url("/stuck")))
            client.loop.run(in: .network, until: "one is idle") { stuck.hasEnded }
            #expect(.now - start >= .seconds(3))
            #expect(stuck.error?.timeout == .idle)
            client.loop.run(in: .network, until: "the other one ends") { slow.hasEnded }
            #expect(slow.error == nil && slow.text == "xxxxxxxxxxxx")
            #expect(.now - start >= .milliseconds(3_500))
        }
    }

    @Test func `a request with a time-out ends when it has passed`() throws {
        try withServer({ $0.waitForEnd() }) { client, server in
            var request = HTTPClient.Request(server.url("/"))
            request.timeout = .milliseconds(80)
            let start = ContinuousClock.now
            let outcome = client.fetch(request)
            #expect(outcome.error?.timeout == .total)
            #expect(.now - start >= .milliseconds(79))
        }
    }
}
