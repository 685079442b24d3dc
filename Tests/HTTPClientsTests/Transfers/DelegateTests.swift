import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Transfers with a delegate instead of handlers.
@Suite struct DelegateTests {
    final class Recorder: HTTPTransferDelegate {
        var calls: [String] = []
        private let counted: Counted

        init(_ alive: Shared) { counted = Counted(alive) }

        func transfer(_ transfer: HTTPTransfer, didReceive response: HTTPResponse) {
            calls.append("\(response.status)")
        }
        func transfer(_ transfer: HTTPTransfer, didReceive bytes: RawSpan) { calls.append(text(bytes)) }
        func transfer(_ transfer: HTTPTransfer, didEndWith error: HTTPClientError?) {
            calls.append(error.map { "\($0)" } ?? "complete")
        }
    }

    @Test func `a delegate is called in order, and released at the end`() throws {
        let alive = Shared()
        try withServer { client, server in
            var recorder: Recorder? = Recorder(alive)
            client.start(HTTPRequest(server.url("/")), delegate: recorder!)
            #expect(client.loop.run(in: .network, until: .hang) == .finished)
            #expect(recorder?.calls == ["200", "Hello, world!", "complete"])
            recorder = nil
            #expect(alive.count == 0)
        }
    }

    @Test func `a delegate is released by a cancel, and not called`() throws {
        let alive = Shared()
        try withServer({ $0.waitForEnd() }) { client, server in
            let transfer = client.start(HTTPRequest(server.url("/")), delegate: Recorder(alive))
            #expect(alive.count == 1)
            transfer.cancel()
            #expect(alive.count == 0)
        }
    }
}

func text(_ bytes: RawSpan) -> String {
    unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
}
