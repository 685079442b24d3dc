import RunLoops
import Streams
import TLSStreams
import TestExpectations
import TestSupport

/// A listener for TLS connections on the loop of the test.
final class SecureServer {
    let port: UInt16
    private let listener: Listener
    /// All accepted connections, including those that have ended.
    private(set) var connections: [(connection: Connection, calls: Calls)] = []

    /// Starts to listen; `serve` sets the handlers of a connection, instead of those that record their calls.
    init(
        _ loop: RunLoop, _ context: TLSServerContext,
        _ serve: @escaping (Connection, Calls) -> Void = { _, _ in }
    ) throws {
        listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
        port = listener.localAddress.port ?? 0
        try loop.add(listener, forMode: .default) { [unowned self] accepted in
            let connection = Connection(accepted, tls: context)
            let calls = Calls()
            calls.watch(connection)
            serve(connection, calls)
            connections.append((connection, calls))
            recorded { try loop.add(connection, forMode: .default) }
        }
    }

    func stop() { listener.invalidate() }

    /// True if at least one connection was accepted, and all have ended.
    var hasServed: Bool { !connections.isEmpty && connections.allSatisfy { $0.calls.reason != nil } }

    /// Answers each line with the same line.
    static func echo(_ connection: Connection, _ calls: Calls) {
        connection.onFrame(.lines()) { connection, line in
            connection.write(line)
            connection.write("\n")
        }
    }

    /// Answers an HTTP request with a body and closes the connection, and records the number of bytes behind the header.
    static func http(_ body: [UInt8]) -> (Connection, Calls) -> Void {
        { connection, calls in
            var length = 0
            var received: [UInt8] = []
            let answer = { (connection: Connection) in
                calls.list.append("body \(received.count) \(received == body)")
                connection.write(
                    "HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n")
                connection.write(body)
                connection.closeAfterWriting()
            }
            connection.onFrame(.lines()) { connection, line in
                // Safe: the text is copied during the call.
                let text = unsafe line.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
                if text.lowercased().hasPrefix("content-length:") {
                    length = Int(text.dropFirst(15).filter { $0 != " " }) ?? 0
                }
                guard text.isEmpty else { return }
                if length == 0 { return answer(connection) }
                connection.onReceive { connection, bytes in
                    // Safe: the bytes are copied during the call.
                    unsafe bytes.withUnsafeBytes { unsafe received.append(contentsOf: $0) }
                    if received.count == length { answer(connection) }
                    return bytes.byteCount
                }
            }
        }
    }
}
