import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Responses that tasks await in an actor on the client's loop.
@Suite struct AnswerTests {
    actor Fetcher {
        private let loop: RunLoop
        private var client: HTTPClient?
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

        init(on loop: RunLoop) { self.loop = loop }

        func open() throws { client = try HTTPClient(options: .local()) }

        func get(_ request: HTTPClient.Request, delay: Duration? = nil) async throws -> (
            HTTPClient.ResponseHead, [UInt8]
        ) {
            guard let client else { throw HTTPClientError(.clientInvalidated) }
            let answer = try await client.response(for: request)
            if let delay { try await Task.sleep(for: delay) }
            return (answer.head, try await answer.body.bytes())
        }

        func pieces(_ request: HTTPClient.Request) async throws -> (Int, Int) {
            guard let client else { throw HTTPClientError(.clientInvalidated) }
            var (count, largest) = (0, 0)
            for try await bytes in try await client.response(for: request).body {
                count += bytes.count
                largest = max(largest, bytes.count)
            }
            return (count, largest)
        }

        /// Calls the iterator's method without an argument.
        func iterate(_ request: HTTPClient.Request) async throws -> Int {
            guard let client else { throw HTTPClientError(.clientInvalidated) }
            var iterator = try await client.response(for: request).body.makeAsyncIterator()
            var count = 0
            while let bytes = try await iterator.next() { count += bytes.count }
            return count
        }

        /// Returns the size of a body, and the number of passes of the loop after its first piece.
        func passes(during request: HTTPClient.Request) async throws -> (Int, Int) {
            guard let client else { throw HTTPClientError(.clientInvalidated) }
            let body = try await client.response(for: request).body
            let passes = Shared()
            var count = 0
            var timer: Timer?
            for try await bytes in body {
                count += bytes.count
                if timer != nil { continue }
                let made = Timer(timeInterval: .microseconds(1), repeats: true) { _ in passes.increment() }
                loop.add(made, forMode: .default)
                timer = made
            }
            timer?.invalidate()
            return (count, passes.count)
        }

        func drop(_ request: HTTPClient.Request) async throws {
            guard let client else { throw HTTPClientError(.clientInvalidated) }
            let answer = try await client.response(for: request)
            #expect(answer.head.status == 200 && client.transferCount == 1)
        }

        var transferCount: Int { client?.transferCount ?? 0 }

        func close() {
            client?.invalidate()
            client = nil
        }
    }

    private func withFetcher(
        _ answer: @escaping @Sendable (Exchange) throws -> Void,
        _ body: (Fetcher, Server) async throws -> Void
    ) async throws {
        let server = try Server(answer)
        defer { server.stop() }
        let thread = try RunLoopThread(name: "fetcher")
        let fetcher = Fetcher(on: thread.runLoop)
        try await fetcher.open()
        try await body(fetcher, server)
        await fetcher.close()
        thread.stop()
        await thread.join()
    }

    @Test func `a task that decodes much lets others have their turn`() async throws {
        let packed = try Tool.python(
            "import gzip,sys; sys.stdout.buffer.write(gzip.compress(bytes(16 << 20)))")
        try await withFetcher({ try $0.answer("200 OK", "Content-Encoding: gzip", packed) }) {
            fetcher, server in
            let (size, passes) = try await fetcher.passes(during: HTTPClient.Request(server.url("/")))
            #expect(size == 16 << 20 && passes >= 2)
        }
    }

    @Test func `an iterator without an argument stays in the isolation of its caller`() async throws {
        try await withFetcher({ try $0.answer() }) { fetcher, server in
            let count = try await fetcher.iterate(HTTPClient.Request(server.url("/")))
            #expect(count == 13)
        }
    }

    @Test func `many tasks of an actor get their answers`() async throws {
        try await withFetcher({ try $0.answer("200 OK", "", Array($0.path.utf8)) }) { fetcher, server in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        let (response, body) = try await fetcher.get(
                            HTTPClient.Request(server.url("/\(number)")))
                        return response.status == 200 && String(decoding: body, as: UTF8.self) == "/\(number)"
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
            #expect(await fetcher.transferCount == 0)
        }
    }

    @Test func `a body comes in pieces, and a task that is slow makes the server wait`() async throws {
        let size = 32 << 20
        let sent = Shared()
        try await withFetcher({ exchange in
            try exchange.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            for _ in 0..<(size >> 16) {
                try exchange.send([UInt8](repeating: 7, count: 1 << 16))
                sent.increment()
            }
        }) { fetcher, server in
            async let slow = fetcher.get(HTTPClient.Request(server.url("/")), delay: .milliseconds(300))
            try await Task.sleep(for: .milliseconds(250))
            #expect(sent.count < size >> 16, "the server waits")
            #expect(try await slow.1.count == size)
            let (count, largest) = try await fetcher.pieces(HTTPClient.Request(server.url("/")))
            #expect(count == size)
            #expect(largest <= (128 << 10) + (16 << 10))
        }
    }

    @Test func `a task that is cancelled cancels its transfer`() async throws {
        try await withFetcher({ $0.waitForEnd() }) { fetcher, server in
            let task = Task { try await fetcher.get(HTTPClient.Request(server.url("/"))) }
            await yieldUntil("the request is there") { !server.requests.entries.isEmpty }
            task.cancel()
            await #expect(throws: HTTPClientError(.cancelled)) { try await task.value }
            #expect(await fetcher.transferCount == 0)
        }
    }

    @Test func `an answer that is dropped before its end cancels its transfer`() async throws {
        let ended = Gate()
        try await withFetcher({ exchange in
            try exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
            exchange.waitForEnd()
            ended.open()
        }) { fetcher, server in
            try await fetcher.drop(HTTPClient.Request(server.url("/")))
            await yieldUntil("the connection is closed") { ended.wait(seconds: 0) }
            #expect(await fetcher.transferCount == 0)
        }
    }

    @Test func `errors are thrown, after the bytes that came before`() async throws {
        try await withFetcher({ exchange in
            try exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
            exchange.close()
        }) { fetcher, server in
            do {
                _ = try await fetcher.get(HTTPClient.Request(server.url("/")))
                Issue.record("the body is not complete")
            } catch HTTPClientError.Reason.connectionLost {}
            await #expect(throws: HTTPClientError.self) {
                try await fetcher.get(HTTPClient.Request("http://127.0.0.1:1/"))
            }
        }
    }
}
