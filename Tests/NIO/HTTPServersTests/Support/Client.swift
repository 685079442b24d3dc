import Glibc
import RunLoops
import TestSupport
import Testing

/// A client that sends any bytes, also invalid ones, over a blocking socket.
///
/// `@unchecked`: one thread sends while another one receives.
final class Client: @unchecked Sendable {
    private var socket: CInt
    private var received: [UInt8] = []

    init(_ port: UInt16) throws {
        let made = try Loopback.connect(to: port)
        socket = made
        var entry = pollfd(fd: made, events: Int16(POLLOUT), revents: 0)
        // Safe, here and below: the kernel reads and fills local variables.
        _ = unsafe poll(&entry, 1, 10_000)
        _ = fcntl(made, F_SETFL, 0)
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        _ = unsafe setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close() }

    /// - Returns: False if the server has closed the connection.
    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(socket, $0.baseAddress! + sent, bytes.count - sent, CInt(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            sent += count
        }
        return true
    }

    /// Receives more bytes.
    ///
    /// - Returns: False at the end, or if the connection was reset.
    private func receive() -> Bool {
        var part = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(socket, &part, part.count, 0)
        if count <= 0 { return false }
        received += part.prefix(count)
        return true
    }

    /// Receives some bytes; nil at the end, or if the connection was reset.
    func some() -> [UInt8]? {
        if received.isEmpty && !receive() { return nil }
        defer { received = [] }
        return received
    }

    /// Receives until the server closes the connection.
    func rest() -> String {
        while receive() {}
        defer { received = [] }
        return String(decoding: received, as: UTF8.self)
    }

    /// Receives one answer with a length.
    func answer() -> (head: String, body: String) {
        var end = headEnd
        while end == nil && receive() { end = headEnd }
        guard let end else { return ("", rest()) }
        let head = String(decoding: received[..<end], as: UTF8.self)
        let length =
            head.split(separator: "\r\n").compactMap {
                $0.lowercased().hasPrefix("content-length: ") ? Int($0.dropFirst(16)) : nil
            }.first ?? 0
        while received.count < end + length && receive() {}
        let body = String(decoding: received[end..<min(end + length, received.count)], as: UTF8.self)
        received.removeFirst(min(end + length, received.count))
        return (head, body)
    }

    /// Receives until a text has arrived.
    func text(through mark: String) -> String {
        while true {
            let text = String(decoding: received, as: UTF8.self)
            if let range = text.firstRange(of: mark) {
                received = Array(text[range.upperBound...].utf8)
                return String(text[..<range.upperBound])
            }
            if !receive() { return text }
        }
    }

    private var headEnd: Int? {
        guard received.count >= 4 else { return nil }
        return (4...received.count).first { received[($0 - 4)..<$0].elementsEqual(Array("\r\n\r\n".utf8)) }
    }

    func endSending() { shutdown(socket, CInt(SHUT_WR)) }

    func close() {
        if socket >= 0 { Glibc.close(socket) }
        socket = -1
    }

    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }
}

/// The head of a request, with the fields that every request needs.
func request(_ line: String, _ fields: String...) -> String {
    (["\(line) HTTP/1.1", "Host: localhost"] + fields + ["", ""]).joined(separator: "\r\n")
}

func curl(_ arguments: String...) throws -> [String] {
    let words = ["-s", "-S", "--noproxy", "*", "--max-time", "60"] + arguments
    return try Program(path: "/usr/bin/env").run(list: ["curl"] + words).lines
}

/// Expects a line from curl.
func expect(_ line: String, _ arguments: String..., sourceLocation: Testing.SourceLocation = #_sourceLocation)
    throws
{
    let words = ["curl", "-s", "-S", "--noproxy", "*", "--max-time", "60"] + arguments
    let lines = try Program(path: "/usr/bin/env").run(list: words).lines
    #expect(lines == [line], sourceLocation: sourceLocation)
}

extension Client {
    /// Sends one byte every 20 ms, until the server closes the connection.
    func trickle(_ text: String) {
        for byte in text.utf8 {
            if !send([byte]) { return }
            usleep(20_000)
        }
    }
}

/// A signal that asks this process to end.
enum Terminating {
    static func raise() { Glibc.kill(getpid(), SIGTERM) }
}

/// The signal that a write to a closed socket raises.
enum BrokenPipes {
    static func areFatal() { signal(SIGPIPE, SIG_DFL) }
}
