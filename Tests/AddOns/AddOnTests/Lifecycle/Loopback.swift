import Glibc
import Streams
import Testing

/// A blocking TCP client on the loopback address.
struct Loopback: Sendable {
    struct Refused: Error {}

    private let socket: CInt

    /// Connects with a blocking socket.
    static func connect(to address: SocketAddress) throws -> Loopback {
        let socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        try #require(socket >= 0)
        // A receive that hangs fails the test.
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var peer = sockaddr_in()
        peer.sin_family = sa_family_t(AF_INET)
        peer.sin_port = in_port_t(address.port ?? 0).bigEndian
        peer.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafePointer(to: &peer) { peer in
            peer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(socket, $0, size) }
        }
        if result != 0 {
            Glibc.close(socket)
            throw Refused()
        }
        return Loopback(socket: socket)
    }

    /// True if no program listens at the port.
    static func isFree(_ port: UInt16) -> Bool {
        guard let address = SocketAddress(host: "127.0.0.1", port: port),
            let client = try? connect(to: address)
        else { return true }
        client.close()
        return false
    }

    /// Sends a line, and receives the same number of bytes.
    ///
    /// - Returns: True if the bytes are those of the line.
    func exchange(_ text: String) -> Bool {
        let line = Array("\(text)\n".utf8)
        guard send(socket, line, line.count, CInt(MSG_NOSIGNAL)) == line.count else { return false }
        var answer = [UInt8](repeating: 0, count: line.count)
        return recv(socket, &answer, answer.count, CInt(MSG_WAITALL)) == line.count && answer == line
    }

    func close() { _ = Glibc.close(socket) }
}
