import Glibc
import RunLoops
import Synchronization
import Testing

/// A server on this machine, with a thread for each connection.
///
/// The server answers `/hello` at once, `/big` with a megabyte, and `/never` not at all.
final class HTTPServer: Sendable {
    let port: UInt16
    private let listener: CInt
    private let isStopped = Atomic(false)

    init() throws {
        listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        try #require(result)
        port = UInt16(bigEndian: address.sin_port)
        try RunLoopThread.detach(name: "server") { [self] _ in accept() }
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Accepts no more connections; open ones end with their clients.
    func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        shutdown(listener, CInt(SHUT_RDWR))
    }

    private func accept() {
        while !isStopped.load(ordering: .sequentiallyConsistent) {
            let connection = Glibc.accept(listener, nil, nil)
            if connection < 0 { break }
            do {
                try RunLoopThread.detach(name: "connection") { [self] _ in
                    serve(connection)
                    close(connection)
                }
            } catch {
                Issue.record(error)
                close(connection)
            }
        }
        close(listener)
    }

    private func serve(_ connection: CInt) {
        var text = ""
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(connection, &bytes, bytes.count)
            if count <= 0 { return }
            text += String(decoding: bytes.prefix(count), as: UTF8.self)
            guard text.hasSuffix("\r\n\r\n") else { continue }
            let path = text.split(separator: " ").dropFirst().first ?? ""
            text = ""
            if path == "/never" { continue }
            let body = path == "/big" ? [UInt8](repeating: 0x2E, count: 1 << 20) : Array("Hello, world!".utf8)
            let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
            var sent = 0
            while sent < answer.count {
                let count = answer.withUnsafeBytes {
                    send(connection, $0.baseAddress! + sent, $0.count - sent, CInt(MSG_NOSIGNAL))
                }
                if count <= 0 { return }
                sent += count
            }
        }
    }
}
