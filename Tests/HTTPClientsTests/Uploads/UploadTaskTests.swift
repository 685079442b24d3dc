import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Bodies of requests that a task supplies as a sequence.
@Suite struct UploadTaskTests {
    /// A sequence of the pieces of a body, in which a failure can replace one piece.
    private struct Pieces: AsyncSequence {
        struct Broken: Error {}
        typealias Element = [UInt8]

        let all: [UInt8]
        let size: Int
        var failsAt = Int.max
        let given: Shared

        struct AsyncIterator: AsyncIteratorProtocol {
            let pieces: Pieces
            var place = 0

            mutating func next() async throws -> [UInt8]? {
                if place >= pieces.failsAt { throw Broken() }
                if place >= pieces.all.count { return nil }
                await Task.yield()
                let end = Swift.min(place + pieces.size, pieces.all.count)
                defer { place = end }
                pieces.given.increment()
                return Array(pieces.all[place..<end])
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: self) }
    }

    private actor Sender {
        private let loop: RunLoop
        private var client: HTTPClient?
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

        init(on loop: RunLoop) { self.loop = loop }

        func open() throws { client = try HTTPClient(options: .local()) }

        func send(_ request: HTTPClient.Request, _ pieces: Pieces) async throws -> (Int, String) {
            guard let client else { throw HTTPClientError(.clientInvalidated) }
            let answer = try await client.response(for: request, uploading: pieces)
            return (answer.status.code, String(decoding: try await answer.body.bytes(), as: UTF8.self))
        }

        var transferCount: Int { client?.transferCount ?? 0 }

        func close() { client?.invalidate() }
    }

    private func withSender(
        _ answer: @escaping @Sendable (Exchange) throws -> Void,
        _ body: (Sender, Server) async throws -> Void
    ) async throws {
        let server = try Server(answer)
        defer { server.stop() }
        let thread = try RunLoopThread(name: "sender")
        let sender = Sender(on: thread.runLoop)
        try await sender.open()
        try await body(sender, server)
        #expect(await sender.transferCount == 0)
        await sender.close()
        thread.stop()
        await thread.join()
    }

    @Test(arguments: [nil, 3_000_000])
    func `a sequence is sent piece by piece, whole and in order`(count: Int?) async throws {
        try await withSender(UploadTests.measure) { sender, server in
            let all = UploadTests.bytes(3_000_000)
            var request = HTTPClient.Request(server.url("/"), method: "PUT")
            if let count { request.body = .stream(contentLength: count) }
            let pieces = Pieces(all: all, size: 70_001, given: Shared())
            let (status, text) = try await sender.send(request, pieces)
            #expect(status == 200 && text == UploadTests.measured(all))
        }
    }

    @Test func `a server that does not read makes the sequence wait`() async throws {
        let gate = Gate()
        try await withSender({ exchange in
            #expect(gate.wait())
            try exchange.answer("200 OK", "", Array("\(exchange.body().count)".utf8))
        }) { sender, server in
            let all = [UInt8](repeating: 1, count: 24 << 20)
            let given = Shared()
            let request = HTTPClient.Request(server.url("/"), method: "PUT")
            async let answer = sender.send(request, Pieces(all: all, size: 65_536, given: given))
            // Until the count stays the same: the kernel buffers some megabytes.
            var last = -1
            while last != given.count || last == 0 {
                last = given.count
                try await Task.sleep(for: .milliseconds(100))
            }
            #expect(given.count < 300, "of 384")
            gate.open()
            let text = try await answer.1
            #expect(text == "\(all.count)")
        }
    }

    @Test func `a failure of the sequence cancels the transfer`() async throws {
        try await withSender({ try UploadTests.measure($0) }) { sender, server in
            let request = HTTPClient.Request(server.url("/"), method: "PUT")
            let pieces = Pieces(
                all: UploadTests.bytes(500_000), size: 10_000, failsAt: 200_000, given: Shared())
            await #expect(throws: Pieces.Broken.self) { try await sender.send(request, pieces) }
        }
    }

    @Test func `an answer before the end of the body leaves the rest of the sequence unread`() async throws {
        try await withSender({ exchange in
            try exchange.answer("413 Content Too Large", "Connection: close", Array("no".utf8))
            exchange.close()
        }) { sender, server in
            let given = Shared()
            let request = HTTPClient.Request(server.url("/"), method: "PUT")
            let pieces = Pieces(all: [UInt8](repeating: 1, count: 16 << 20), size: 10_000, given: given)
            do {
                let status = try await sender.send(request, pieces).0
                #expect(status == 413)
            } catch let error as HTTPClientError {
                // The connection can be reset before the answer arrives.
                guard error.reason == .connectionLost else { throw error }
            }
            #expect(given.count < 1_600)
        }
    }

    @Test func `a cancelled task cancels the transfer`() async throws {
        let gate = Gate()
        try await withSender({ exchange in
            gate.open()
            exchange.waitForEnd()
        }) { sender, server in
            let request = HTTPClient.Request(server.url("/"), method: "PUT")
            let pieces = Pieces(all: [UInt8](repeating: 1, count: 64 << 20), size: 100_000, given: Shared())
            let task = Task { try await sender.send(request, pieces) }
            await yieldUntil("the request is there") { gate.wait(seconds: 0) }
            task.cancel()
            await #expect(throws: HTTPClientError(.cancelled)) { try await task.value }
        }
    }
}
