import CCurl
import RunLoops
import Testing

/// libcurl on a `LibrarySource`, with a server on this machine.
@Suite(.serialized) struct CurlTests {
    private let network = RunLoop.Mode("com.example.network")

    /// Runs the body on a loop, with a server.
    private func withServer(_ body: @escaping @Sendable (RunLoop, HTTPServer) throws -> Void) throws {
        let server = try HTTPServer()
        defer { server.stop() }
        try onLoopThread { loop in try body(loop, server) }
    }

    @Test func `32 parallel transfers arrive whole, and the run finishes`() throws {
        try withServer { [network] loop, server in
            let client = try CurlClient(forMode: network)
            var sizes: [Int] = []
            for number in 0..<32 {
                _ = client.start(server.url(number % 4 == 0 ? "/big" : "/hello")) { transfer, code in
                    #expect(code == CURLE_OK)
                    sizes.append(transfer.received)
                }
            }
            #expect(loop.run(in: network, until: .hang) == .finished)
            #expect(sizes.count == 32)
            #expect(sizes.count { $0 == 13 } == 24)
            #expect(sizes.count { $0 == 1 << 20 } == 8)
            client.close()
        }
    }

    @Test func `handlers that start further transfers use the connections again`() throws {
        try withServer { [network] loop, server in
            let client = try CurlClient(forMode: network)
            var ended = 0
            func go() {
                _ = client.start(server.url("/hello")) { transfer, code in
                    #expect(code == CURLE_OK && transfer.received == 13)
                    ended += 1
                    if ended <= 192 { go() }
                }
            }
            for _ in 0..<8 { go() }
            #expect(loop.run(in: network, until: .hang) == .finished)
            #expect(ended == 200)
            client.close()
        }
    }

    @Test func `a transfer without an answer times out, not before its time, and others go on`() throws {
        try withServer { [network] loop, server in
            let client = try CurlClient(forMode: network)
            let start = ContinuousClock.now
            var codes: [CURLcode?] = []
            for milliseconds in [40, 80, 120] {
                _ = client.start(server.url("/never"), timeout: .milliseconds(milliseconds)) { _, code in
                    #expect(.now - start >= .milliseconds(milliseconds - 1))
                    codes.append(code)
                }
            }
            _ = client.start(server.url("/hello")) { _, code in codes.append(code) }
            #expect(loop.run(in: network, until: .hang) == .finished)
            #expect(codes.first == .some(CURLE_OK))
            #expect(codes.dropFirst().allSatisfy { $0 == CURLE_OPERATION_TIMEDOUT })
            #expect(codes.count == 4)
            client.close()
        }
    }

    @Test func `a handler cancels others, and starts one`() throws {
        try withServer { [network] loop, server in
            let client = try CurlClient(forMode: network)
            var log: [String] = []
            let pending = (0..<4).map { number in
                client.start(server.url("/never")) { _, code in log.append("\(number) \(code == nil)") }
            }
            _ = client.start(server.url("/hello")) { _, _ in
                for transfer in pending { client.cancel(transfer) }
                #expect(log.count == 4)
                _ = client.start(server.url("/hello")) { _, code in log.append("last \(code == CURLE_OK)") }
            }
            #expect(loop.run(in: network, until: .hang) == .finished)
            #expect(log == ["0 true", "1 true", "2 true", "3 true", "last true"])
            client.close()
        }
    }

    @Test func `a run inside a handler, in a private mode, serves another client and not this one`() throws {
        try withServer { [network] loop, server in
            let inner = RunLoop.Mode("com.example.private")
            let client = try CurlClient(forMode: network)
            let other = try CurlClient(forMode: inner)
            var (ended, isNested) = (0, false)
            for _ in 0..<8 {
                _ = client.start(server.url("/hello")) { _, code in
                    #expect(code == CURLE_OK && !isNested)
                    ended += 1
                    if ended != 1 { return }
                    isNested = true
                    var size = 0
                    _ = other.start(server.url("/big")) { transfer, _ in size = transfer.received }
                    let passes = loop.statistics.passes
                    #expect(loop.run(in: inner, until: .hang) == .finished)
                    #expect(size == 1 << 20)
                    #expect(loop.statistics.passes - passes < 10_000)
                    // A nested run in the client's own mode does not serve the client either.
                    loop.run(in: network, until: .now + .milliseconds(5))
                    isNested = false
                }
            }
            #expect(loop.run(in: network, until: .hang) == .finished)
            #expect(ended == 8)
            for client in [client, other] { client.close() }
        }
    }

    @Test func `a client that is closed in its service ends all transfers, and its run finishes`() throws {
        try withServer { [network] loop, server in
            let client = try CurlClient(forMode: network)
            var (cancelled, ended) = (0, 0)
            for number in 0..<8 {
                _ = client.start(server.url(number == 7 ? "/hello" : "/never")) { _, code in
                    ended += 1
                    if code == nil { cancelled += 1 } else { client.close() }
                }
            }
            #expect(loop.run(in: network, until: .hang) == .finished)
            #expect((cancelled, ended) == (7, 8))
            #expect(client.source == nil)
        }
    }

    @Test func `a thread that ends with a living client cleans up on that thread`() throws {
        let server = try HTTPServer()
        defer { server.stop() }
        let thread = try RunLoopThread(name: "network")
        let loop = thread.runLoop
        let log = Log()
        let started = Gate()
        try loop.performAndWait { [network] in
            let client = try CurlClient(forMode: .common)
            RunLoop.current.addCommonMode(network)
            _ = client.start(server.url("/never")) { _, code in
                log.add("\(code == nil) \(loop.isCurrent)")
            }
            _ = client.start(server.url("/hello")) { _, _ in started.open() }
        }
        #expect(started.wait())
        thread.stop()
        #expect(thread.join(before: .hang))
        #expect(log.entries == ["true true"])
    }
}
