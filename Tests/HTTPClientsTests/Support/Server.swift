import Glibc
import RunLoops
import Synchronization
import TestSupport
import Testing

/// A server on this machine, with a thread for each connection, whose answers the test decides.
final class Server: Sendable {
    let port: UInt16
    /// The heads of all requests, in the order in which they arrived.
    let requests = Log<String>()
    /// The number of connections that were accepted.
    let connections = Shared()
    private let listener: CInt
    private let isStopped = Atomic(false)
    private let answer: @Sendable (Exchange) throws -> Void

    /// Starts to listen.
    ///
    /// - Parameter answer: Called with each request, on the thread of its connection.
    /// - Throws: An error if the system refuses a socket.
    init(_ answer: @escaping @Sendable (Exchange) throws -> Void) throws {
        self.answer = answer
        listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        // Safe: the kernel reads and fills a local variable, whose length it gets.
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listener, address, length) == 0 && Glibc.listen(listener, 1_024) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        try #require(isListening)
        port = UInt16(bigEndian: address.sin_port)
        try RunLoopThread.detach(name: "server") { [self] _ in accept() }
    }

    /// Starts to listen at a Unix socket.
    ///
    /// - Parameters:
    ///   - path: The path of the socket.
    ///   - answer: Called with each request, on the thread of its connection.
    /// - Throws: An error if the system refuses a socket.
    init(path: String, _ answer: @escaping @Sendable (Exchange) throws -> Void) throws {
        self.answer = answer
        listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        port = 0
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        try #require(path.utf8.count < 108)
        // Safe: the path fits into the address, whose length the kernel gets.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let listener = listener
        let isListening = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listener, address, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                    && Glibc.listen(listener, 64) == 0
            }
        }
        try #require(isListening)
        try RunLoopThread.detach(name: "server") { [self] _ in accept() }
    }

    /// Accepts no more connections.
    ///
    /// Open connections end with their clients.
    func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        shutdown(listener, CInt(SHUT_RDWR))
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    private func accept() {
        while !isStopped.load(ordering: .sequentiallyConsistent) {
            let connection = Glibc.accept(listener, nil, nil)
            if connection < 0 { break }
            connections.increment()
            do {
                try RunLoopThread.detach(name: "connection") { [self] _ in
                    serve(Exchange(connection))
                    close(connection)
                }
            } catch { close(connection) }
        }
        close(listener)
    }

    private func serve(_ exchange: Exchange) {
        do {
            while try exchange.readHead() {
                requests.add(exchange.head)
                try answer(exchange)
                if exchange.isClosed { return }
            }
        } catch {}
    }
}

/// A connection, with its requests one after another and their answers.
///
/// Reads and writes block.
final class Exchange {
    private let socket: CInt
    private var buffer: [UInt8] = []
    private(set) var head = ""
    /// The number of the request on this connection, from 1.
    private(set) var number = 0
    private(set) var isClosed = false

    /// The client has closed the connection.
    struct Gone: Error {}

    init(_ socket: CInt) { self.socket = socket }

    var path: String { String(head.split(separator: " ", maxSplits: 2).dropFirst().first ?? "") }
    var method: String { String(head.prefix { $0 != " " }) }

    func field(_ name: String) -> String? {
        let lines = head.split(separator: "\r\n").filter {
            $0.lowercased().hasPrefix(name.lowercased() + ":")
        }
        return lines.first.map { String($0.dropFirst(name.count + 1).drop { $0 == " " }) }
    }

    fileprivate func readHead() throws -> Bool {
        head = ""
        while true {
            if let end = Server.end(of: buffer) {
                head = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeFirst(end)
                number += 1
                return true
            }
            do { try fill() } catch { return false }
        }
    }

    /// Reads further bytes into the buffer.
    private func fill() throws {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(socket, &bytes, bytes.count, 0)
        if count <= 0 { throw Gone() }
        buffer += bytes.prefix(count)
    }

    /// Reads the body of the request, which has a length or comes in chunks.
    func body() throws -> [UInt8] {
        if let length = field("Content-Length").flatMap({ Int($0) }) { return try take(length) }
        guard field("Transfer-Encoding") == "chunked" else { return [] }
        var body: [UInt8] = []
        while true {
            let size = Int(try line(), radix: 16) ?? 0
            body += try take(size)
            _ = try line()
            if size == 0 { return body }
        }
    }

    func take(_ count: Int) throws -> [UInt8] {
        while buffer.count < count { try fill() }
        defer { buffer.removeFirst(count) }
        return Array(buffer.prefix(count))
    }

    private func line() throws -> String {
        while true {
            if let end = buffer.firstIndex(of: 0x0a) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeFirst(end + 1)
                return line.filter { $0 != "\r" && $0 != "\r\n" }
            }
            try fill()
        }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            // Safe: the kernel reads the rest of the array.
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe Glibc.send(socket, bytes.baseAddress! + sent, bytes.count - sent, CInt(MSG_NOSIGNAL))
            }
            if count <= 0 { throw Gone() }
            sent += count
        }
    }

    /// Sends an answer with a length.
    func answer(
        _ status: String = "200 OK", _ fields: String = "", _ body: [UInt8] = Array("Hello, world!".utf8)
    ) throws {
        let lines = fields.isEmpty ? "" : fields + "\r\n"
        try send(Array("HTTP/1.1 \(status)\r\n\(lines)Content-Length: \(body.count)\r\n\r\n".utf8) + body)
    }

    /// Closes the connection after this answer.
    func close() {
        isClosed = true
        shutdown(socket, CInt(SHUT_RDWR))
    }

    func reset() {
        isClosed = true
        var option = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    func waitForEnd() { while (try? fill()) != nil {} }
}

extension Server {
    /// The index after the empty line that ends the head.
    static func end(of bytes: [UInt8]) -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        guard bytes.count >= 4 else { return nil }
        return (4...bytes.count).first { bytes[($0 - 4)..<$0].elementsEqual(mark) }
    }
}
