import HTTPClients
import RunLoops
import TestSupport
import Testing

/// A record of the calls of a transfer's handlers.
final class Outcome {
    var calls: [String] = []
    var response: HTTPClient.ResponseHead?
    var body: [UInt8] = []
    var error: HTTPClientError?
    var hasEnded = false

    var text: String { String(decoding: body, as: UTF8.self) }

    /// Sets all handlers of a transfer.
    func watch(_ transfer: HTTPTransfer) {
        transfer.onResponse { [self] _, response in
            calls.append("response \(response.status.code)")
            self.response = response
        }
        transfer.onData { [self] _, bytes in
            if calls.last != "data" { calls.append("data") }
            // Safe: the bytes are copied during the call.
            unsafe bytes.withUnsafeBytes { unsafe body.append(contentsOf: $0) }
        }
        transfer.onEnd { [self] _, error in
            calls.append("end")
            self.error = error
            hasEnded = true
        }
    }
}

extension HTTPClient {
    /// Starts a transfer whose handlers are recorded.
    func record(_ request: HTTPClient.Request) -> (HTTPTransfer, Outcome) {
        let outcome = Outcome()
        return (start(request) { outcome.watch($0) }, outcome)
    }

    /// Makes a request, and runs the loop until the transfer has ended.
    func fetch(_ request: HTTPClient.Request) -> Outcome {
        let (_, outcome) = record(request)
        loop.run(in: mode, until: "the transfer has ended") { outcome.hasEnded }
        return outcome
    }

    func fetch(_ url: String) -> Outcome { fetch(HTTPClient.Request(url)) }
}

extension HTTPClient.Options {
    /// The default options without the proxies and other settings of the environment.
    static func local() -> HTTPClient.Options { local { _ in } }

    /// The same with changes.
    static func local(_ change: (inout HTTPClient.Options) throws -> Void) rethrows -> HTTPClient.Options {
        var options = HTTPClient.Options()
        options.proxy = .none
        try change(&options)
        return options
    }
}

extension RunLoop {
    /// Runs the loop until a condition holds.
    func run(in mode: Mode = .default, until what: String, _ holds: () -> Bool) {
        let end = ContinuousClock.Instant.hang
        while !holds() {
            run(in: mode, until: .now + .milliseconds(5), returnAfterSourceHandled: true)
            if ContinuousClock.now > end {
                Issue.record("it does not come to be: \(what)")
                return
            }
        }
    }
}

/// Runs the body of a test on a loop, with a server, and a client in a mode of its own.
func withServer(
    _ answer: @escaping @Sendable (Exchange) throws -> Void = { try $0.answer() },
    options: HTTPClient.Options = .local(),
    _ body: @escaping @Sendable (HTTPClient, Server) throws -> Void
) throws {
    let server = try Server(answer)
    defer { server.stop() }
    try onLoopThread { loop in
        let client = try HTTPClient(mode: .network, options: options)
        try body(client, server)
        client.invalidate()
    }
}

extension RunLoop.Mode {
    static let network = RunLoop.Mode("org.example.network")
}
