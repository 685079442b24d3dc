@testable import HTTPServers

/// A client of a WebSocket, which sends any frames, and reads what the server sends.
final class SocketClient {
    let client: Client
    private var received: [UInt8] = []

    /// A frame of the server.
    struct Received: Equatable {
        let opcode: WebSocketFrame.Opcode?
        let content: [UInt8]

        init(_ opcode: WebSocketFrame.Opcode?, _ content: [UInt8]) {
            self.opcode = opcode
            self.content = content
        }

        static func text(_ text: String) -> Received { Received(.text, Array(text.utf8)) }
    }

    /// Connects, and completes the hand-shake.
    ///
    /// - Parameters:
    ///   - port: The server's port.
    ///   - early: What is sent together with the request.
    /// - Throws: If the server does not accept the hand-shake.
    init(_ port: UInt16, early: [UInt8] = []) throws {
        client = try Client(port)
        let head = request(
            "GET /socket", "Connection: keep-alive,\tUpgrade", "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
        client.send(Array(head.utf8) + early)
        // Frames may come with the header, and are no text.
        let mark = Array("\r\n\r\n".utf8)
        while received.firstRange(of: mark) == nil, let more = client.some() { received += more }
        let end = received.firstRange(of: mark)?.upperBound ?? received.count
        let answer = String(decoding: received[..<end], as: UTF8.self)
        received.removeFirst(end)
        if !answer.hasPrefix("HTTP/1.1 101 ") || !answer.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") {
            throw Refused(answer: answer)
        }
    }

    struct Refused: Error { let answer: String }

    func send(_ opcode: WebSocketFrame.Opcode, _ content: String, isFinal: Bool = true) {
        client.send(Frame(opcode, content, isFinal: isFinal).bytes)
    }

    func send(_ opcode: WebSocketFrame.Opcode, _ content: [UInt8]) {
        client.send(Frame(opcode, content).bytes)
    }

    /// Reads the next frame.
    ///
    /// Frames of a server are whole and not masked; anything else, and the end, is a frame without an opcode.
    func frame() -> Received {
        while received.count < 2 || received.count < headerCount {
            guard let more = client.some() else { return Received(nil, received) }
            received += more
        }
        let header = headerCount
        let length = header == 2 ? Int(received[1]) : received[2..<header].reduce(0) { $0 << 8 | Int($1) }
        while received.count < header + length {
            guard let more = client.some() else { return Received(nil, received) }
            received += more
        }
        let opcode = received[0] & 0xf0 == 0x80 ? WebSocketFrame.Opcode(rawValue: received[0] & 0x0f) : nil
        defer { received.removeFirst(header + length) }
        return Received(opcode, Array(received[header..<header + length]))
    }

    private var headerCount: Int {
        switch received[1] {
        case 126: 4
        case 127: 10
        default: 2
        }
    }

    /// True if the server has closed the connection, and has sent nothing more.
    var isAtEnd: Bool { received.isEmpty && client.some() == nil }
}
