import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// The code of the landing page and of the article "HTTP on a loop".
@Suite(.serialized) struct HTTPOnALoopSnippets {
    actor Fetcher: RunLoopActor {
        nonisolated let runLoop: RunLoop

        init(on runLoop: RunLoop) { self.runLoop = runLoop }

        func size(of url: String) async throws -> Int {
            let client = try HTTPClient()
            var size = 0
            let response = try await client.response(for: HTTPClient.Request(url))
            for try await bytes in response.body { size += bytes.count }
            return size
        }

        func page(at url: String) async throws -> String {
            let client = try HTTPClient()
            return try await client.response(for: HTTPClient.Request(url)).body.text(upTo: 1 << 20)
        }
    }

    @Test func `the landing page's client prints what happens`() throws {
        let server = try Server { try $0.answer() }
        defer { server.stop() }
        let url = server.url("/")
        let print = Printed()
        try onLoopThread { _ in try HTTPOnALoopSnippets.landing(url, print) }
        #expect(print.lines == ["200", "13 bytes", "complete"])
    }

    private static func landing(_ url: String, _ print: Printed) throws {
        let client = try HTTPClient()
        client.start(HTTPClient.Request(url)) { transfer in
            transfer.onResponse { _, response in print(response.status.code) }
            transfer.onData { _, bytes in print("\(bytes.byteCount) bytes") }
            transfer.onEnd { _, error in
                print(error.map { "\($0)" } ?? "complete")
                RunLoop.current.stop()
            }
        }
        RunLoop.current.run()
    }

    @Test func `downloads are waited for in a private mode`() throws {
        let server = try Server { try $0.answer() }
        defer { server.stop() }
        let urls = (0..<10).map { server.url("/\($0)") }
        let sizes = try onLoopThread { _ in try download(urls) }
        #expect(sizes == Dictionary(uniqueKeysWithValues: urls.map { ($0, 13) }))
    }

    @Test func `a slow sink pauses the transfer`() throws {
        try withServer({ try $0.answer("200 OK", "", [UInt8](repeating: 1, count: 1 << 20)) }) {
            client, server in
            let sink = Sink()
            copy(HTTPClient.Request(server.url("/")), to: sink, with: client)
            client.loop.run(in: .network, until: "all is written") {
                sink.drain()
                return client.transferCount == 0
            }
            #expect(sink.count == 1 << 20)
        }
    }

    @Test func `lines are uploaded as fast as the server takes them`() throws {
        let size = Log<Int>()
        try withServer({ exchange in
            size.add(try exchange.body().count)
            try exchange.answer()
        }) { client, server in
            let lines = [String](repeating: String(repeating: "x", count: 1_000), count: 2_000)
            upload(lines, to: server.url("/"), with: client)
            #expect(client.loop.run(in: .network, until: .hang) == .finished)
            #expect(size.entries == [2_000_000])
        }
    }

    @Test func `a subscription that is released elsewhere receives nothing more`() throws {
        let hasMore = Gate()
        try withServer({ exchange in
            try exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
            _ = hasMore.wait()
            try exchange.send("later")
        }) { client, server in
            var pieces = 0
            let holder = Holder(held: Subscription(to: server.url("/"), with: client) { _ in pieces += 1 })
            client.loop.run(in: .network, until: "a piece has come") { pieces == 1 }
            try BareThread { holder.held = nil }.join()
            hasMore.open()
            client.loop.run(in: .network, until: "the end has come") { client.transferCount == 0 }
            #expect(pieces == 1)
        }
    }

    /// An object that another thread releases.
    ///
    /// `@unchecked`: one thread at a time uses it.
    private final class Holder: @unchecked Sendable {
        var held: Subscription?
        init(held: Subscription) { self.held = held }
    }

    @Test func `an actor on a loop reads a body`() async throws {
        let server = try Server { try $0.answer() }
        defer { server.stop() }
        let thread = try RunLoopThread(name: "fetcher")
        let fetcher = Fetcher(on: thread.runLoop)
        #expect(try await fetcher.size(of: server.url("/")) == 13)
        thread.stop()
        await thread.join()
    }

    private func copy(_ request: HTTPClient.Request, to connection: Sink, with client: HTTPClient) {
        let transfer = client.start(request) { transfer in
            transfer.onData { transfer, bytes in
                if !connection.write(bytes) { transfer.isReadingPaused = true }
            }
        }
        connection.onDrained { transfer.isReadingPaused = false }
    }

    private func upload(_ lines: [String], to url: String, with client: HTTPClient) {
        var request = HTTPClient.Request(url, method: .put)
        request.body = .stream(contentLength: nil)
        var rest = lines[...]
        func write(_ transfer: HTTPTransfer) {
            while let line = rest.popFirst() {
                if !transfer.write(line) { return }
            }
            transfer.endBody()
        }
        write(
            client.start(request) { transfer in
                transfer.onDrained { transfer in write(transfer) }
            })
    }
}

private final class Subscription {
    private let transfer: HTTPTransfer

    init(to url: String, with client: HTTPClient, _ handler: @escaping (RawSpan) -> Void) {
        transfer = client.start(HTTPClient.Request(url)) { transfer in
            transfer.onData { _, bytes in handler(bytes) }
        }
    }

    deinit { transfer.cancel() }
}

/// A sink that has no room left after each write.
private final class Sink {
    var count = 0
    private var drained: (() -> Void)?

    func write(_ bytes: RawSpan) -> Bool {
        count += bytes.byteCount
        return false
    }

    func onDrained(_ handler: @escaping () -> Void) { drained = handler }
    func drain() { drained?() }
}

private func download(_ urls: [String]) throws -> [String: Int] {
    let mode = RunLoop.Mode("org.example.download")
    let client = try HTTPClient(mode: mode)
    var sizes: [String: Int] = [:]
    for url in urls {
        client.start(HTTPClient.Request(url)) { transfer in
            transfer.onEnd { transfer, error in
                if error == nil { sizes[url] = transfer.receivedByteCount }
            }
        }
    }
    // Returns when the last transfer has ended: then nothing keeps the mode alive.
    RunLoop.current.run(in: mode, until: .distantFuture)
    return sizes
}
