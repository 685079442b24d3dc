import Glibc
import RunLoops
import Streams
import TestSupport
import Testing

/// A connection, and the other end of its socket as a plain descriptor.
final class Pair {
    let connection: Connection
    /// Non-blocking, and closed with the pair.
    private(set) var peer: CInt

    init(_ options: Connection.Options = .init()) throws {
        let ends = try Loopback.pair()
        peer = ends.1
        connection = try Connection(OwnedDescriptor(ends.0), options: options)
    }

    deinit { closePeer() }

    func send(_ text: String) throws { _ = try Loopback.write(Array(text.utf8), to: peer) }

    /// Returns the bytes that the connection has sent, which are empty at its end, or nil if there are none.
    func read() throws -> String? {
        try Loopback.read(peer, atMost: 1 << 20).map { String(decoding: $0, as: UTF8.self) }
    }

    func endSending() { Loopback.endSending(peer) }

    func closePeer() {
        if peer >= 0 { close(peer) }
        peer = -1
    }
}

/// The calls of the handlers of a connection, in order.
final class Calls {
    var list: [String] = []

    /// Sets all handlers of a connection, and records the received bytes line by line.
    func watch(_ connection: Connection, limit: Int = 100) {
        connection.onFrame(.lines(upTo: limit)) { [self] _, line in list.append(text(line)) }
        connection.onConnect { [self] _ in list.append("connected") }
        connection.onDrained { [self] _ in list.append("drained") }
        connection.onEnd { [self] _, reason in list.append("end: \(reason)") }
    }
}

func text(_ bytes: RawSpan) -> String {
    unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
}
