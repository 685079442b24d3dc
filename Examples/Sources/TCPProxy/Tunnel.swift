import RunLoops
import ServerSupport
import Streams

/// A client's connection and the connection to the server, which each get what the other one receives.
///
/// The end of the input on one side becomes the end of the output on the other side, and the other direction goes on. A side
/// that reads slowly makes the other one wait: at most ``Connection/Options/highWaterMark`` bytes, and those of one read, are
/// stored for it.
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
    ///   - endpoint: The place of the server.
    ///   - options: The limits of both connections.
    ///   - logsEnds: True if the end of each side is logged, with its reason.
    ///   - onEnd: Called once both connections have ended.
    /// - Throws: An error if the kernel has no means to watch one of the connections. Both are closed then.
    init(
        _ accepted: consuming AcceptedSocket, to endpoint: Endpoint, options: Connection.Options,
        logsEnds: Bool, onEnd: @escaping (Tunnel) -> Void
    ) throws {
        name = "\(accepted.peerAddress)"
        client = Connection(accepted, options: options)
        server = Connection.connect(to: endpoint, options: options)
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

    /// Sets the handlers of one side, which hold the tunnel until that side has ended.
    private func forward(from source: Connection, to target: Connection, side: String) {
        source.onReceive { source, bytes in
            // What was written is kept in any case; the result says if the target falls behind.
            if !target.write(bytes) { source.pauseReading() }
            return bytes.byteCount
        }
        target.onDrained { _ in source.resumeReading() }
        source.onInputEnd { _ in target.endOutput() }
        source.onEnd { [self] _, reason in
            if logsEnds { log("\(name): \(side): \(reason)") }
            // After a regular end the other side still sends what it has, and ends by itself. Otherwise it has no use any more.
            if reason != .peerClosed { target.close() }
            openSides -= 1
            if openSides == 0 { onEnd(self) }
        }
    }
}
