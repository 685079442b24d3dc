import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Misuse ends the program, with a message that says what to do instead.
@Suite struct ClientMisuseTests {
    private actor Misuser {
        private let loop: RunLoop
        private var body: HTTPClient.Response.Body?
        private var client: HTTPClient?
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

        init(on loop: RunLoop) { self.loop = loop }

        func sendStream() async throws {
            let client = try HTTPClient(options: .local())
            var request = HTTPClient.Request("http://127.0.0.1:1/", method: "PUT")
            request.body = .stream(contentLength: nil)
            _ = try await client.response(for: request)
        }

        func open(_ url: String) async throws {
            let client = try HTTPClient(options: .local())
            self.client = client
            body = try await client.response(for: HTTPClient.Request(url)).body
        }

        func read() async throws { if let body { for try await _ in body {} } }
    }

    @Test func `a write to a body that is no stream ends the program`() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent],
            performing: {
                try withServer { client, server in
                    client.start(HTTPClient.Request(server.url("/"), method: "PUT")) { _ in }.write([1])
                }
            })
        #expect(
            result?.message.contains(
                "HTTPTransfer.write: the body of the request is not a stream; set it to .stream(contentLength:) before the start"
            ) == true)
    }

    @Test func `a body that is a stream without a sequence ends the program`() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent],
            performing: {
                let thread = try RunLoopThread(name: "misuser")
                try await Misuser(on: thread.runLoop).sendStream()
            })
        #expect(
            result?.message.contains("HTTPClient.response: the body of the request is a stream; ") == true)
    }

    @Test func `two tasks on one body end the program`() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent],
            performing: {
                let server = try Server { exchange in
                    try exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
                    exchange.waitForEnd()
                }
                let thread = try RunLoopThread(name: "misuser")
                let misuser = Misuser(on: thread.runLoop)
                try await misuser.open(server.url("/"))
                async let first: Void = misuser.read()
                async let second: Void = misuser.read()
                _ = try await (first, second)
            })
        #expect(
            result?.message.contains("HTTPClient.Response.Body: two tasks await the body of the ") == true
                && result?.message.contains("let one task iterate over it") == true)
    }
}
