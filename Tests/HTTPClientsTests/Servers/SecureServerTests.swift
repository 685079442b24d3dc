import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Servers that are trusted with TLS, and do what costs the client more than it costs them.
@Suite(.serialized) struct SecureServerTests {
    /// Fetches an answer, and returns it with the number of passes of the loop after the server has begun to send.
    private func passes(of server: SecureServer, _ path: String) throws -> (
        error: HTTPClientError?, text: String, passes: Int
    ) {
        try onLoopThread { loop in
            let client = try HTTPClient(mode: .network, options: server.options)
            let (_, outcome) = client.record(HTTPClient.Request(server.url(path)))
            loop.run(in: .network, until: "the server is ready") { server.has("ready") || outcome.hasEnded }
            var passes = 0
            loop.add(RunLoop.Observer(activities: .beforeTimers) { _, _ in passes += 1 }, forMode: .network)
            try server.go()
            loop.run(in: .network, until: "the transfer has ended") { outcome.hasEnded }
            client.invalidate()
            return (outcome.error, outcome.text, passes)
        }
    }

    // Guarantees: What a server sends over TLS is read in bounded steps, even if it is no part of an answer, and other inputs have
    // their turn.
    @Test(arguments: ["updates", "tickets"])
    func `messages of TLS itself are read in steps, and others have their turn`(kind: String) throws {
        let server = try SecureServer()
        let outcome = try passes(of: server, "/\(kind)")
        #expect(outcome.error == nil && outcome.text == "Hello")
        #expect(outcome.passes > 100)
        try server.stop()
    }

    // Guarantees: What a server sends over TLS is read in bounded steps, even if it is no part of an answer, and other inputs have
    // their turn.
    @Test(arguments: ["empty", "priority", "window", "unknown", "service"])
    func `frames without bytes of a body are read in steps, and others have their turn`(kind: String) throws {
        let server = try SecureServer(frames: kind)
        let outcome = try passes(of: server, "/")
        #expect(outcome.error == nil && outcome.text == "Hello")
        #expect(outcome.passes > 50)
        try server.stop()
    }

    @Test func `many messages of TLS itself in one record end the connection`() throws {
        let server = try SecureServer(frames: "hello")
        try onLoopThread { loop in
            let client = try HTTPClient(mode: .network, options: server.options)
            let outcome = client.fetch(server.url("/"))
            if outcome.error?.reason == .tlsFailed {
            } else {
                Issue.record("\(outcome.error.map { "\($0)" } ?? "complete")")
            }
            client.invalidate()
        }
        try server.stop()
    }

    /// Fetches an answer of a server over HTTP/1.1.
    private func fetch(_ path: String, _ check: @escaping @Sendable (Outcome) -> Void) throws {
        let server = try SecureServer()
        try onLoopThread { loop in
            let client = try HTTPClient(mode: .network, options: server.options)
            check(client.fetch(server.url(path)))
            client.invalidate()
        }
        try server.stop()
    }

    // Guarantees: A transfer follows a redirect from `http` to `https`, never from `https` to `http`, and none to another scheme.
    @Test func `a redirect from https to http is refused`() throws {
        let other = try Server { try $0.answer() }
        try fetch("/to-\(other.port)") { outcome in
            guard outcome.error?.reason == .redirectRefused else {
                Issue.record("\(outcome.error.map { "\($0)" } ?? "complete")")
                return
            }
        }
        #expect(other.connections.count == 0)
        other.stop()
    }

    // Guarantees: A transfer follows a redirect from `http` to `https`, never from `https` to `http`, and none to another scheme.
    @Test func `a redirect from http to https is followed`() throws {
        let server = try SecureServer()
        let first = try Server { try $0.answer("302 Found", "Location: \(server.url("/"))") }
        try onLoopThread { loop in
            let client = try HTTPClient(mode: .network, options: server.options)
            let outcome = client.fetch(first.url("/"))
            #expect(outcome.error == nil && outcome.text == "Hello")
            #expect(outcome.response?.url == server.url("/"))
            client.invalidate()
        }
        first.stop()
        try server.stop()
    }

    @Test func `a status line with HTTP/2 is refused if TLS has agreed on something else`() throws {
        try fetch("/version") { outcome in
            guard outcome.error?.reason == .invalidResponse else {
                Issue.record("\(outcome.error.map { "\($0)" } ?? "complete")")
                return
            }
        }
    }
}
