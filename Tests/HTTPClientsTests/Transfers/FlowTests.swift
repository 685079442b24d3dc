import CFaults
import Glibc
import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Pausing, cancelling, and the limits of the buffers.
@Suite struct FlowTests {
    // Guarantees: A paused transfer delivers nothing, makes the server wait, and stores little.
    @Test
    func `a paused transfer delivers neither bytes nor its end, stores little, and makes the server wait`()
        throws
    {
        let sent = Shared()
        try withServer({ exchange in
            let size = 64 << 20
            try exchange.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            for _ in 0..<(size >> 16) {
                try exchange.send([UInt8](repeating: 7, count: 1 << 16))
                sent.increment()
            }
        }) { client, server in
            let (transfer, outcome) = client.record(HTTPClient.Request(server.url("/")))
            client.loop.run(in: .network, until: "bytes come") { !outcome.body.isEmpty }
            transfer.isReadingPaused = true
            let received = outcome.body.count
            var last = -1
            // Until the server blocks: the kernel buffers some megabytes.
            client.loop.run(in: .network, until: "the server has to wait") {
                defer { last = sent.count }
                client.loop.run(in: .network, until: .now + .milliseconds(100))
                return last == sent.count
            }
            #expect(outcome.body.count == received)
            #expect(sent.count < 512, "most of it is not sent")
            #expect(transfer.receivedByteCount - received <= 3 * (128 << 10))
            transfer.isReadingPaused = false
            client.loop.run(in: .network, until: "it has ended") { outcome.hasEnded }
            #expect(outcome.error == nil && outcome.body.count == 64 << 20)
        }
    }

    @Test func `a pause does not hold back the end when the client is invalidated`() throws {
        try withServer({ try $0.answer("200 OK", "", [1, 2, 3]) }) { client, server in
            var pieces = 0
            var ends: [HTTPClientError?] = []
            let transfer = client.start(HTTPClient.Request(server.url("/"))) { transfer in
                transfer.onData { _, _ in pieces += 1 }
                transfer.onEnd { _, error in ends.append(error) }
                transfer.isReadingPaused = true
            }
            client.loop.run(in: .network, until: "the answer is complete") {
                transfer.receivedByteCount == 3
            }
            #expect(ends.isEmpty && transfer.isOpen)
            client.invalidate()
            #expect(ends.map { $0?.reason } == [.clientInvalidated])
            #expect(!transfer.isOpen && client.transferCount == 0)
        }
    }

    @Test func `a handler that pauses gets no further call until the transfer goes on`() throws {
        try withServer({ try $0.answer("200 OK", "", [UInt8](repeating: 1, count: 1 << 20)) }) {
            client, server in
            var count = 0
            var isPaused = false
            var hasEnded = false
            client.start(HTTPClient.Request(server.url("/"))) { transfer in
                transfer.onData { transfer, bytes in
                    #expect(!isPaused)
                    #expect(
                        bytes.byteCount <= (128 << 10) + (16 << 10), "libcurl's pieces are held back in time")
                    count += bytes.byteCount
                    isPaused = true
                    transfer.isReadingPaused = true
                    let resume = Timer(timeInterval: .zero, repeats: false) { _ in
                        isPaused = false
                        transfer.isReadingPaused = false
                    }
                    RunLoop.current.add(resume, forMode: .network)
                }
                transfer.onEnd { _, error in
                    #expect(!isPaused && error == nil)
                    hasEnded = true
                }
            }
            client.loop.run(in: .network, until: "it has ended") { hasEnded }
            #expect(count == 1 << 20)
        }
    }

    // Guarantees: After a cancel on any thread, no call of the transfer's handlers begins but the report of the end, which does not
    // come during the cancel.
    @Test(arguments: 0..<40) func `after a cancel only the end is reported, at whatever point it comes`(
        seed: UInt64
    ) throws {
        let alive = Shared()
        try withServer({ try $0.answer("200 OK", "", [UInt8](repeating: 1, count: 300_000)) }) {
            client, server in
            var random = SplitMix64(seed: seed)
            var cancelled: Set<Int> = []
            var ended = 0
            var isCancelling = false
            var transfers: [HTTPTransfer] = []
            func cancelOne() {
                guard Int.random(in: 0..<4, using: &random) == 0 else { return }
                let number = Int.random(in: 0..<transfers.count, using: &random)
                if transfers[number].isOpen { cancelled.insert(number) }
                isCancelling = true
                transfers[number].cancel()
                isCancelling = false
                #expect(!transfers[number].isOpen)
            }
            for number in 0..<24 {
                let counted = Counted(alive)
                transfers.append(
                    client.start(HTTPClient.Request(server.url("/"))) { transfer in
                        func called(isEnd: Bool = false) {
                            #expect(!isCancelling && (isEnd || !cancelled.contains(number)))
                            withExtendedLifetime(counted) {}
                            if transfers.count == 24 { cancelOne() }
                        }
                        transfer.onResponse { _, _ in called() }
                        transfer.onData { _, _ in called() }
                        transfer.onEnd { _, error in
                            ended += 1
                            #expect(error?.reason == (cancelled.contains(number) ? .cancelled : nil))
                            called(isEnd: true)
                        }
                    })
            }
            client.loop.run(in: .network, until: "all have ended") {
                cancelOne()
                return client.transferCount == 0
            }
            #expect(ended == 24)
            transfers = []
        }
        #expect(alive.count == 0)
    }

    /// Only some transfers begin in one pass; the others wait for their turn.
    @Test func `of many transfers all begin but the cancelled ones, and all end with their client`() throws {
        try withServer { client, server in
            let transfers = (0..<200).map { client.record(HTTPClient.Request(server.url("/\($0)"))) }
            for number in stride(from: 1, to: 200, by: 2) { transfers[number].0.cancel() }
            #expect(client.loop.run(in: .network, until: .hang) == .finished)
            let paths = server.requests.entries.map { $0.split(separator: " ")[1] }
            #expect(Set(paths) == Set(stride(from: 0, to: 200, by: 2).map { "/\($0)" }) && paths.count == 100)
            #expect(transfers.count { $0.1.error == nil && $0.1.hasEnded } == 100)
            let others = (0..<200).map { _ in client.record(HTTPClient.Request(server.url("/"))).1 }
            client.invalidate()
            #expect(others.allSatisfy { $0.calls == ["end"] && $0.error?.reason == .clientInvalidated })
        }
    }

    @Test func `1,000 parallel downloads of a megabyte arrive whole, and what is stored is bounded`() async {
        // In a process of its own, because other tests use memory, too.
        await #expect(processExitsWith: .success) {
            let options = HTTPClient.Options.local { $0.connectionLimitPerHost = 100 }
            let body = [UInt8]((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) })
            try withServer({ try $0.answer("200 OK", "", body) }, options: options) { client, server in
                let before = Memory.peak()
                let passes = PassTimes()
                passes.observe(client.loop, mode: .network)
                var sizes = [Int](repeating: 0, count: 1_000)
                var differences = 0
                var ended = 0
                for number in 0..<1_000 {
                    client.start(HTTPClient.Request(server.url("/"))) { transfer in
                        transfer.onData { _, bytes in
                            // Safe: both buffers are read during the call, within their bounds.
                            let difference = unsafe bytes.withUnsafeBytes { bytes in
                                unsafe body.withUnsafeBytes { body in
                                    let rest = unsafe UnsafeRawBufferPointer(rebasing: body[sizes[number]...])
                                    return unsafe bytes.count > rest.count
                                        || memcmp(bytes.baseAddress!, rest.baseAddress!, bytes.count) != 0
                                }
                            }
                            if difference { differences += 1 }
                            sizes[number] += bytes.byteCount
                        }
                        transfer.onEnd { _, error in
                            #expect(error == nil, "\(error.map { "\($0)" } ?? "")")
                            ended += 1
                        }
                    }
                }
                #expect(client.loop.run(in: .network, until: .hang) == .finished)
                #expect(ended == 1_000)
                #expect(sizes.allSatisfy { $0 == 1 << 20 })
                #expect(differences == 0)
                // 128 KiB and libcurl's own buffers for each connection, and the memory of the server's hundred threads.
                #expect(Memory.peak() - before < 200 << 20)
                // This is processor time of the loop's thread, so other processes do not disturb the measurement. Unoptimised code
                // takes longer.
                #if DEBUG
                    let limit = Duration.milliseconds(50)
                #else
                    let limit = Duration.milliseconds(5)
                #endif
                #expect(passes.count > 100)
                if !faults_are_slow() { #expect(passes.longestOfMost < limit) }
            }
        }
    }

    /// Setting a handler releases the one before it, and that can destroy an object that uses the transfer.
    @Test func `an object of a replaced handler may set that handler when it is destroyed`() throws {
        try withServer { client, server in
            var calls: [String] = []
            client.start(HTTPClient.Request(server.url("/"))) { transfer in
                transfer.onResponse {
                    [parting = Parting { transfer.onResponse { _, _ in calls.append("response") } }] _, _ in
                    parting.hold()
                }
                transfer.onResponse { _, _ in }
                transfer.onData {
                    [parting = Parting { transfer.onData { _, _ in calls.append("data") } }] _, _ in
                    parting.hold()
                }
                transfer.onData { _, _ in }
                transfer.onDrained { [parting = Parting { transfer.onDrained { _ in } }] _ in parting.hold() }
                transfer.onDrained { _ in }
                transfer.onEnd {
                    [parting = Parting { transfer.onEnd { _, _ in calls.append("end") } }] _, _ in
                    parting.hold()
                }
                transfer.onEnd { _, _ in }
            }
            #expect(client.loop.run(in: .network, until: .hang) == .finished)
            #expect(calls == ["response", "data", "end"])
        }
    }
}
