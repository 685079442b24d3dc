import RunLoops
import ServerSupport
import Streams

/// A client's connection and a connection to the server, each of which sends the bytes that the other one receives.
///
/// The end of the input on one side becomes the end of the output on the other side, and the other direction stays open. A side
/// that reads slowly makes the other side wait. At most ``Connection/Options/highWaterMark`` bytes, and the bytes of one read, are
/// stored for the slow side.
///
/// > Thread safety: the thread of the loop.
final class Tunnel {
    private let client: Connection
    private let server: Connection
    private let name: String
    private let logsEnds: Bool
    private let onEnd: (Tunnel) -> Void
    private var openSides = 2

    /// Connects to the server, and begins to forward.
    ///
    /// - Parameters:
    ///   - accepted: The client.
    ///   - endpoint: The address of the server.
    ///   - options: The limits of both connections.
    ///   - logsEnds: True if the end of each side is logged, with its reason.
    ///   - onEnd: Called after both connections have ended.
    /// - Throws: An error if the kernel is out of resources to watch the connections. Both connections are closed then.
    init(
        _ accepted: consuming AcceptedSocket, to endpoint: Endpoint, options: Connection.Options,
        logsEnds: Bool, onEnd: @escaping (Tunnel) -> Void
    ) throws {
        name = "\(accepted.peerAddress)"
        client = Connection(accepted, options: options)
        server = Connection(connectingTo: endpoint, options: options)
        self.logsEnds = logsEnds
        self.onEnd = onEnd
        forward(from: client, to: server, side: "client")
        forward(from: server, to: client, side: "server")
        do {
            try RunLoop.current.add(client, forMode: .default)
            try RunLoop.current.add(server, forMode: .default)
        } catch {
            close()
            throw error
        }
    }

    /// Closes both connections at once.
    func close() {
        client.close()
        server.close()
    }

    /// Sets the handlers of one side, which keep the tunnel alive until that side has ended.
    private func forward(from source: Connection, to target: Connection, side: String) {
        source.onReceive { source, bytes in
            // The bytes are stored in any case. The result says if the target falls behind.
            if !target.write(bytes) { source.isReadingPaused = true }
            return bytes.byteCount
        }
        target.onDrained { _ in source.isReadingPaused = false }
        source.onInputEnd { _ in target.endOutput() }
        source.onEnd { [self] _, reason in
            if logsEnds { log("\(name): \(side): \(reason)") }
            // After a regular end, the other side sends its remaining bytes and ends by itself. After any other end, it is of no
            // use.
            if reason != .peerClosed { target.close() }
            openSides -= 1
            if openSides == 0 { onEnd(self) }
        }
    }
}
