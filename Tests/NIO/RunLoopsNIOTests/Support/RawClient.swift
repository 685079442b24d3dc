import Glibc
import NIOCore

/// A blocking client, whose behaviour depends on neither implementation.
///
/// `@unchecked Sendable`: one thread at a time uses it.
final class RawClient: @unchecked Sendable {
    private(set) var socket: CInt

    convenience init(_ server: any Channel) {
        guard let address = server.localAddress else { fatalError("the server has an address") }
        self.init(address)
    }

    /// Connects to a server, through the relay if the server is one with TLS.
    init(_ server: SocketAddress) {
        let address = Relay.address(for: server)
        let family = address.pathname == nil ? AF_INET : AF_UNIX
        socket = Glibc.socket(family, CInt(SOCK_STREAM.rawValue), 0)
        let connected = address.withSockAddr { Glibc.connect(socket, $0, socklen_t($1)) }
        if connected != 0 { fatalError("connect: \(errno)") }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close() }

    func send(_ text: some StringProtocol) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            if count <= 0 { return }
            sent += count
        }
    }

    /// Reads a number of bytes, or until the end.
    func read(_ count: Int) -> String {
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while all.count < count {
            let received = Glibc.read(socket, &piece, min(piece.count, count - all.count))
            if received <= 0 {
                return String(decoding: all, as: UTF8.self) + (received == 0 ? "<end>" : "<error-\(errno)>")
            }
            all += piece[..<received]
        }
        return String(decoding: all, as: UTF8.self)
    }

    /// Reads up to and including a text.
    func read(until mark: String) -> String {
        var text = ""
        while !text.hasSuffix(mark) {
            let next = read(1)
            text += next
            if next.utf8.count != 1 { break }
        }
        return text
    }

    /// The number of bytes up to the end; negative after an error.
    func readToEnd() -> Int {
        var sum = 0
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(socket, &piece, piece.count)
            if count <= 0 { return count == 0 ? sum : -1 }
            sum += count
        }
    }

    func endOutput() { shutdown(socket, CInt(SHUT_WR)) }

    func reset() {
        var time = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &time, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    func close() {
        if socket >= 0 { Glibc.close(socket) }
        socket = -1
    }
}
