import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import HTTPClients

/// Bodies of requests.
@Suite struct UploadTests {
    /// Answers with the number and the sum of the body's bytes.
    @Sendable static func measure(_ exchange: Exchange) throws {
        let body = try exchange.body()
        let sum = body.reduce(into: 0) { $0 = $0 &* 31 &+ Int($1) }
        try exchange.answer("200 OK", "", Array("\(body.count) \(sum)".utf8))
    }

    static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) } }

    static func measured(_ bytes: [UInt8]) -> String {
        "\(bytes.count) \(bytes.reduce(into: 0) { $0 = $0 &* 31 &+ Int($1) })"
    }

    @Test(arguments: [nil, 2_000_000]) func `a stream is sent as it is written, and its writer has to wait`(
        count: Int?
    ) throws {
        try withServer(UploadTests.measure) { client, server in
            let all = UploadTests.bytes(2_000_000)
            var given = 0
            var (refused, drained) = (0, 0)
            func write(_ transfer: HTTPTransfer) {
                while given < all.count {
                    let piece = Array(all[given..<min(given + 10_000, all.count)])
                    given += piece.count
                    if !transfer.write(piece) {
                        refused += 1
                        return
                    }
                }
                transfer.endBody()
            }
            var request = HTTPClient.Request(server.url("/"), method: "PUT")
            request.body = .stream(contentLength: count)
            let outcome = Outcome()
            let transfer = client.start(request) { transfer in
                outcome.watch(transfer)
                transfer.onDrained { transfer in
                    drained += 1
                    write(transfer)
                }
            }
            client.loop.run(in: .network, until: .now + .milliseconds(20))
            write(transfer)
            #expect(transfer.unsentByteCount <= 300_000)
            client.loop.run(in: .network, until: "it has ended") { outcome.hasEnded }
            #expect(outcome.error == nil)
            #expect(outcome.text == UploadTests.measured(all))
            #expect(refused > 2 && drained == refused)
        }
    }

    /// The client watches a descriptor while libcurl waits for its bytes.
    ///
    /// When an answer is resumed, libcurl can take the bytes before the client has seen that they are there. The transfer then
    /// waits no more, but the descriptor is still watched.
    @Test func `a descriptor is not watched after its transfer was cancelled`() throws {
        let body = [UInt8](repeating: 1, count: 4 << 20)
        try withServer({ exchange in
            try exchange.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
            try exchange.send(body)
            exchange.close()
        }) { client, server in
            let wire = try Wire.pipe()
            defer { close(wire.far) }
            var calls = 0
            let transfer = client.start(
                HTTPClient.Request(server.url("/"), method: "PUT"), uploading: OwnedDescriptor(wire.near)
            ) { transfer in
                transfer.onData { transfer, _ in
                    calls += 1
                    switch calls {
                    case 1: transfer.isReadingPaused = true
                    case 2: wire.send()
                    default:
                        #expect(client.transferSet.contents.waitingUploads.count <= 1)
                        let hadTaken = transfer.contents.upload?.isWaiting == false
                        transfer.cancel()
                        #expect(client.transferSet.contents.waitingUploads.isEmpty, "taken: \(hadTaken)")
                    }
                }
            }
            client.loop.run(in: .network, until: "the inbox is full") {
                transfer.receivedByteCount >= 128 << 10
            }
            transfer.isReadingPaused = false
            client.loop.run(in: .network, until: "it is over") { !transfer.isOpen }
        }
    }

    @Test func `a stream that waits for its writer goes on with the next write`() throws {
        try withServer(UploadTests.measure) { client, server in
            var request = HTTPClient.Request(server.url("/"), method: "POST")
            request.body = .stream(contentLength: nil)
            let (transfer, outcome) = client.record(request)
            for piece in ["one", "two", "three"] {
                client.loop.run(in: .network, until: "the request is there") {
                    !server.requests.entries.isEmpty
                }
                client.loop.run(in: .network, until: .now + .milliseconds(5))
                transfer.write(Array(piece.utf8))
            }
            transfer.endBody()
            client.loop.run(in: .network, until: "it has ended") { outcome.hasEnded }
            #expect(outcome.text == UploadTests.measured(Array("onetwothree".utf8)))
        }
    }

    @Test func `a regular file is sent from its offset, and again after a redirect`() throws {
        try withServer({ exchange in
            if exchange.path == "/first" {
                _ = try exchange.body()
                try exchange.answer("307 Temporary Redirect", "Location: /second")
            } else {
                try UploadTests.measure(exchange)
            }
        }) { client, server in
            let all = UploadTests.bytes(500_000)
            let file = try OwnedDescriptor.memory(name: "body")
            #expect(unsafe write(file.descriptor, all, all.count) == all.count)
            lseek(file.descriptor, 1_000, SEEK_SET)
            let outcome = Outcome()
            client.start(HTTPClient.Request(server.url("/first"), method: "PUT"), uploading: file) {
                outcome.watch($0)
            }
            client.loop.run(in: .network, until: "it has ended") { outcome.hasEnded }
            #expect(outcome.error == nil)
            #expect(outcome.text == UploadTests.measured(Array(all[1_000...])))
        }
    }

    @Test func `a pipe is sent as it is written, until its end`() throws {
        try withServer(UploadTests.measure) { client, server in
            let pipe = try OwnedDescriptor.pipe()
            let writer = dup(pipe.writingEnd.descriptor)
            let reader = dup(pipe.readingEnd.descriptor)
            // Closes the originals: the client and the test use the copies.
            discard(pipe)
            let outcome = Outcome()
            client.start(
                HTTPClient.Request(server.url("/"), method: "POST"), uploading: OwnedDescriptor(reader)
            ) {
                outcome.watch($0)
            }
            client.loop.run(in: .network, until: "the request is there") { !server.requests.entries.isEmpty }
            for piece in ["one", "two"] {
                client.loop.run(in: .network, until: .now + .milliseconds(5))
                _ = unsafe write(writer, piece, piece.utf8.count)
            }
            client.loop.run(in: .network, until: .now + .milliseconds(5))
            close(writer)
            client.loop.run(in: .network, until: "it has ended") { outcome.hasEnded }
            #expect(outcome.error == nil)
            #expect(outcome.text == UploadTests.measured(Array("onetwo".utf8)))
        }
    }

    @Test func `a stream cannot follow a redirect that keeps the body`() throws {
        try withServer({ exchange in
            _ = try exchange.body()
            try exchange.answer("307 Temporary Redirect", "Location: /second")
        }) { client, server in
            var request = HTTPClient.Request(server.url("/"), method: "PUT")
            request.body = .stream(contentLength: nil)
            let (transfer, outcome) = client.record(request)
            transfer.write([1, 2, 3])
            transfer.endBody()
            client.loop.run(in: .network, until: "it has ended") { outcome.hasEnded }
            #expect(outcome.error?.reason == .bodyNotRepeatable)
        }
    }

    @Test func `a descriptor that cannot be read ends the transfer`() throws {
        try withServer(UploadTests.measure) { client, server in
            let directory = unsafe open("/", O_RDONLY | O_CLOEXEC)
            let outcome = Outcome()
            client.start(
                HTTPClient.Request(server.url("/"), method: "PUT"), uploading: OwnedDescriptor(directory)
            ) {
                outcome.watch($0)
            }
            client.loop.run(in: .network, until: "it has ended") { outcome.hasEnded }
            #expect(outcome.error?.systemError == SystemError(call: "read", code: EISDIR))
        }
    }

    @Test func `a stream with fewer bytes than its count ends the transfer`() throws {
        try withServer({ _ = try? $0.body() }) { client, server in
            var request = HTTPClient.Request(server.url("/"), method: "PUT")
            request.body = .stream(contentLength: 10)
            let (transfer, outcome) = client.record(request)
            transfer.write([1, 2, 3])
            transfer.endBody()
            client.loop.run(in: .network, until: "it has ended") { outcome.hasEnded }
            #expect(outcome.error?.reason == .wrongBodyLength)
        }
    }

    @Test func `after a 303 the next request is a GET, whatever the method was`() throws {
        try withServer({ exchange in
            _ = try exchange.body()
            if exchange.path == "/first" {
                try exchange.answer("303 See Other", "Location: /second")
            } else {
                try exchange.answer("200 OK", "", Array(exchange.method.utf8))
            }
        }) { client, server in
            for method in [.post, .put, .delete, .patch] as [HTTPRequest.Method] {
                let outcome = client.fetch(
                    HTTPClient.Request(server.url("/first"), method: method, body: .bytes([1, 2])))
                #expect(outcome.text == "GET", "after \(method)")
                #expect(outcome.response?.url == server.url("/second"))
                #expect(outcome.calls == ["response 200", "data", "end"])
            }
        }
    }
}

private func discard(_ pipe: consuming OwnedDescriptor.Pipe) {}
