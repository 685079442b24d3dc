import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import HTTPClients

/// The account of what a client stores for all its transfers.
@Suite struct StoredInputTests {
    @Test func `nothing has a limit without a limit`() {
        let account = StoredInput(limit: nil)
        let share = StoredInput.Share(account)
        #expect(account.takesBody(1 << 40, of: share) && account.takesHeader(1 << 40, of: share))
    }

    @Test func `a transfer gets its limit at first, a share later, and nothing at the end`() {
        let account = StoredInput(limit: 4 << 20)
        var greedy = StoredInput.Share(account)
        #expect(account.takesBody(1 << 20, of: greedy) && !account.takesBody(1 << 20 | 1, of: greedy))
        _ = account.change(&greedy, header: 0, body: 1 << 20)
        #expect(!account.takesBody(1, of: greedy))
        var shares: [StoredInput.Share] = []
        while true {
            var share = StoredInput.Share(account)
            guard account.takesBody(16 << 10, of: share) else { break }
            _ = account.change(&share, header: 0, body: 16 << 10)
            #expect(!account.takesBody(1, of: share))
            shares.append(share)
        }
        #expect(shares.count == (1 << 20) / (16 << 10) && account.bodies == 2 << 20)
        // Headers have a half of their own.
        #expect(account.takesHeader(256 << 10, of: greedy))
        // After the greedy one has been read, transfers get their limits again.
        let isLess = account.change(&greedy, header: 0, body: 0)
        #expect(isLess && account.takesBody(16 << 10, of: StoredInput.Share(account)))
    }

    @Test func `a limit of nothing has room for a share`() {
        let account = StoredInput(limit: 0)
        let share = StoredInput.Share(account)
        #expect(account.takesBody(16 << 10, of: share) && !account.takesBody(16 << 10 | 1, of: share))
        #expect(account.takesHeader(8 << 10, of: share))
    }

    // Guarantees: What a client stores of headers and of bodies stays within its limits, however many transfers it has, and
    // transfers with other servers go on.
    @Test func `what paused transfers store together stays within the limit, and all is delivered later`()
        throws
    {
        let size = 300_000
        let options = HTTPClient.Options.local {
            $0.inputLimit = 2 << 20
            $0.connectionLimitPerHost = 100
        }
        try withServer({ try $0.answer("200 OK", "", [UInt8](repeating: 1, count: size)) }, options: options)
        {
            client, server in
            let account = client.transferSet.storedInput
            var (received, ended) = (0, 0)
            func start() -> HTTPTransfer {
                client.start(HTTPClient.Request(server.url("/"))) { transfer in
                    transfer.onData { _, bytes in received += bytes.byteCount }
                    transfer.onEnd { _, error in
                        #expect(error == nil)
                        ended += 1
                    }
                    transfer.isReadingPaused = true
                }
            }
            var transfers = (0..<20).map { _ in start() }
            client.loop.run(in: .network, until: "much is stored") { account.bodies > 512 << 10 }
            // A transfer that is not paused gets its share.
            #expect(client.fetch(server.url("/")).body.count == size)
            transfers += (0..<70).map { _ in start() }
            client.loop.run(in: .network, until: "the account is full") {
                #expect(account.bodies <= 1 << 20)
                return account.bodies + (16 << 10) > 1 << 20
            }
            #expect(received == 0)
            for transfer in transfers {
                transfer.isReadingPaused = false
                client.loop.run(in: .network, until: .now + .milliseconds(1))
                #expect(account.bodies <= 1 << 20)
            }
            client.loop.run(in: .network, until: "all have ended") { ended == 90 }
            #expect(received == 90 * size && account.bodies == 0 && account.headers == 0)
        }
    }

    @Test func `a body that waits without anything stored goes on when others have been read`() throws {
        let options = HTTPClient.Options.local {
            $0.inputLimit = 64 << 10
            $0.connectionLimitPerHost = 100
        }
        try withServer(
            { try $0.answer("200 OK", "", [UInt8](repeating: 1, count: 200_000)) }, options: options
        ) {
            client, server in
            let account = client.transferSet.storedInput
            var ended = 0
            func start(isPaused: Bool) -> HTTPTransfer {
                client.start(HTTPClient.Request(server.url("/"))) { transfer in
                    transfer.onEnd { _, error in
                        #expect(error == nil)
                        ended += 1
                    }
                    transfer.isReadingPaused = isPaused
                }
            }
            let paused = (0..<4).map { _ in start(isPaused: true) }
            client.loop.run(in: .network, until: "the account is full") { account.bodies > 16 << 10 }
            let others = (0..<10).map { _ in start(isPaused: false) }
            client.loop.run(in: .network, until: .now + .milliseconds(50))
            #expect(account.bodies <= 32 << 10)
            for transfer in paused { transfer.isReadingPaused = false }
            client.loop.run(in: .network, until: "all have ended") { ended == 14 }
            #expect(account.bodies == 0)
            withExtendedLifetime(others) {}
        }
    }

    // Guarantees: What a client stores of headers and of bodies stays within its limits, however many transfers it has, and
    // transfers with other servers go on.
    @Test func `long headers of many transfers end them, and not those with usual ones`() throws {
        let options = HTTPClient.Options.local {
            $0.inputLimit = 1 << 20
            $0.connectionLimitPerHost = 100
        }
        try withServer(
            { exchange in
                let field = "X: \(String(repeating: "x", count: 1_000))"
                let fields = Array(repeating: field, count: exchange.path == "/long" ? 150 : 1)
                try exchange.answer("200 OK", fields.joined(separator: "\r\n"))
            }, options: options
        ) { client, server in
            let account = client.transferSet.storedInput
            var errors: [HTTPClientError] = []
            let long = (0..<20).map { _ in
                client.start(HTTPClient.Request(server.url("/long"))) { transfer in
                    transfer.onEnd { _, error in if let error { errors.append(error) } }
                    transfer.isReadingPaused = true
                }
            }
            client.loop.run(in: .network, until: "all are decided") {
                #expect(account.headers <= 1 << 19)
                return long.allSatisfy { $0.response != nil || $0.contents.state.hasEnded }
            }
            let outcome = client.fetch(server.url("/usual"))
            #expect(outcome.error == nil && outcome.text == "Hello, world!")
            for transfer in long { transfer.isReadingPaused = false }
            client.loop.run(in: .network, until: "all have ended") { client.transferCount == 0 }
            #expect(!errors.isEmpty && errors.count < 20)
            #expect(errors.allSatisfy { $0.reason == .headerTooLarge && $0.limit == 1 << 20 })
            #expect(account.headers == 0)
        }
    }

    // Guarantees: What a client stores of headers and of bodies stays within its limits, however many transfers it has, and
    // transfers with other servers go on.
    @Test func `bodies that tasks have not read count, even after their transfers have ended`() async throws {
        let server = try Server { try $0.answer("200 OK", "", [UInt8](repeating: 1, count: 30_000)) }
        defer { server.stop() }
        let thread = try RunLoopThread(name: "reader")
        let reader = Reader(on: thread.runLoop)
        try await reader.read(server.url("/"))
        thread.stop()
        await thread.join()
    }

    private actor Reader {
        private let loop: RunLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
        init(on loop: RunLoop) { self.loop = loop }

        func read(_ url: String) async throws {
            let client = try HTTPClient(options: .local())
            let account = client.transferSet.storedInput
            var first: HTTPClient.Response? = try await client.response(for: HTTPClient.Request(url))
            let second = try await client.response(for: HTTPClient.Request(url))
            while client.transferCount > 0 { await Task.yield() }
            #expect(account.bodies == 60_000 && account.headers == 0)
            #expect(try await second.body.text(upTo: 30_000).utf8.count == 30_000)
            #expect(account.bodies == 30_000)
            withExtendedLifetime(first) {}
            first = nil
            while account.bodies > 0 { await Task.yield() }
        }
    }
}
