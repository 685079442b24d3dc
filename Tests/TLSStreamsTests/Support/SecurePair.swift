import Glibc
import RunLoops
import Streams
import TLSStreams
import TestExpectations
import TestSupport
import Testing

/// A client and a server on one loop, connected by a pair of sockets.
final class SecurePair {
    let client: Connection
    let server: Connection
    let clientCalls = Calls()
    let serverCalls = Calls()

    init(
        server serverContext: TLSServerContext? = nil, client clientContext: TLSClientContext? = nil,
        name: String = "localhost", options: Connection.Options = .init(), _ ends: (CInt, CInt)? = nil
    ) throws {
        let ends = try ends ?? Loopback.pair()
        server = try Connection(
            OwnedDescriptor(ends.0), tls: serverContext ?? Certificates.server(), options: options)
        client = try Connection(
            OwnedDescriptor(ends.1), tls: clientContext ?? Certificates.client(), serverName: name,
            options: options)
        clientCalls.watch(client)
        serverCalls.watch(server)
    }

    func add(to loop: RunLoop) throws {
        try loop.add(server, forMode: .default)
        try loop.add(client, forMode: .default)
    }

    /// Runs the loop until both ends have ended.
    func finish(_ loop: RunLoop) {
        loop.run(until: "both have ended") { clientCalls.reason != nil && serverCalls.reason != nil }
    }

    /// Lets the client read the server's tickets, because a socket that is closed with unread bytes resets its peer.
    func takeTickets(_ loop: RunLoop) { for _ in 0..<5 { loop.pass() } }

    func connect(_ loop: RunLoop) throws {
        try add(to: loop)
        loop.run(until: "both are connected") { client.isConnected && server.isConnected }
    }
}

/// The calls of the handlers of a connection, in order.
final class Calls {
    var list: [String] = []
    var reason: Connection.EndReason?

    /// Sets all handlers of a connection, and records the received bytes line by line.
    func watch(_ connection: Connection) {
        connection.onFrame(.lines(upTo: 1_000_000)) { [self] _, line in
            // Safe: the text is copied during the call.
            list.append(
                unsafe line.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) })
        }
        connection.onConnect { [self] _ in list.append("connected") }
        connection.onEnd { [self] _, reason in
            list.append("end")
            #expect(self.reason == nil)
            self.reason = reason
        }
    }

    /// The TLS error with which the connection has ended, or nil.
    var error: TLSError? {
        if case .tls(let error) = reason { error } else { nil }
    }
}
