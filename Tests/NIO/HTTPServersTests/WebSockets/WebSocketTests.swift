import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

@testable import HTTPServers

/// WebSockets, whose client is the test.
@Suite struct WebSocketTests {
    @Test func `messages come back, pings are answered, and frames that came with the request count`() throws
    {
        try withSockets { server, _ in
            let client = try SocketClient(server.port, early: Frame(.text, "early").bytes)
            #expect(client.frame() == .text("early"))
            client.send(.text, "grüß dich")
            client.send(.ping, "are you there")
            client.send(.binary, [1, 2, 3])
            client.send(.pong, "nobody asked")
            client.send(.text, "a", isFinal: false)
            client.send(.ping, "")
            client.send(.continuation, "b")
            let big = String(repeating: "0123456789", count: 20_000)
            client.send(.text, big)
            #expect(client.frame() == .text("grüß dich"))
            #expect(client.frame() == .init(.pong, Array("are you there".utf8)))
            #expect(client.frame() == .init(.binary, [1, 2, 3]))
            #expect(client.frame() == .init(.pong, []))
            #expect(client.frame() == .text("ab"))
            #expect(client.frame() == .text(big))
        }
    }

    // Guarantees: The handler of the end is called once, after all other handlers of the socket, however it ends.
    @Test func `a client that closes gets its code back, and then the end of the connection`() throws {
        try withSockets { server, ends in
            let client = try SocketClient(server.port)
            client.send(.text, "last")
            client.send(.close, [0x0f, 0xa0] + Array("bye".utf8))
            client.send(.text, "behind")
            #expect(client.frame() == .text("last"))
            #expect(client.frame() == .init(.close, [0x0f, 0xa0]))
            #expect(client.isAtEnd)
            client.client.close()
            waitUntil("the socket has ended") {
                ends.entries == [.closed(WebSocket.CloseCode(rawValue: 4000), reason: "bye")]
            }
            let silent = try SocketClient(server.port)
            silent.send(.close, [])
            #expect(silent.frame() == .init(.close, []) && silent.isAtEnd)
            silent.client.close()
            waitUntil("the second one has ended") { ends.entries.last == .closed(nil, reason: "") }
        }
    }

    // Guarantees: After your code has closed a socket, no message is delivered.
    @Test func `a socket that your code closes waits for the client's answer, and delivers nothing more`()
        throws
    {
        let messages = Log<WebSocket.Message>()
        try withSockets(onMessage: { socket, message in
            messages.add(message)
            socket.close(code: .goingAway, reason: "later")
            #expect(!socket.isOpen && !socket.send("not sent") && !socket.ping())
            socket.close(code: .normal)
        }) { server, ends in
            let client = try SocketClient(server.port)
            client.send(.text, "one")
            client.send(.text, "two")
            #expect(client.frame() == .init(.close, [3, 233] + Array("later".utf8)))
            client.send(.ping, "no answer")
            client.send(.close, [3, 232])
            #expect(client.isAtEnd)
            client.client.close()
            waitUntil("the socket has ended") { ends.entries == [.closed(.normal, reason: "")] }
            #expect(messages.entries == [.text("one")])
        }
    }

    // Guarantees: The handler of the end is called once, after all other handlers of the socket, however it ends.
    @Test func `a client that does not answer a close is left after a time`() throws {
        var options = WebSocket.Options()
        options.closeTimeout = .milliseconds(50)
        try withSockets(options, onMessage: { socket, _ in socket.close() }) { server, ends in
            let client = try SocketClient(server.port)
            client.send(.text, "close")
            #expect(client.frame() == .init(.close, [3, 232]))
            #expect(client.isAtEnd)
            client.client.close()
            waitUntil("the socket has ended") { ends.entries == [.timedOut] }
        }
    }

    // Guarantees: A client that breaks the protocol or exceeds the limit of a message is told the code, and nothing more of it is
    // delivered.
    @Test func `a client that breaks the protocol or the limit is told the code, and its connection ends`()
        throws
    {
        var options = WebSocket.Options()
        options.messageByteLimit = 1000
        let cases: [([UInt8], WebSocket.CloseCode)] = [
            (Frame(.text, "a", isMasked: false).bytes, .protocolError),
            (Frame(.continuation, "a").bytes, .protocolError),
            (Frame(.ping, "a", isFinal: false).bytes, .protocolError),
            (Frame(.close, [0]).bytes, .protocolError),
            (Frame(.text, [0x61, 0xff]).bytes, .invalidText),
            (Frame(.text, Array("€".utf8.prefix(2))).bytes, .invalidText),
            (Frame(.binary, Array(repeating: 0, count: 1001)).bytes, .messageTooBig),
            (
                Frame(.binary, Array(repeating: 0, count: 600), isFinal: false).bytes
                    + Frame(.continuation, Array(repeating: 0, count: 600)).bytes, .messageTooBig
            ),
        ]
        for (bytes, code) in cases {
            let messages = Log<WebSocket.Message>()
            try withSockets(options, onMessage: { messages.add($1) }) { server, ends in
                let client = try SocketClient(server.port)
                client.client.send(bytes + Frame(.text, "behind").bytes)
                #expect(
                    client.frame() == .init(.close, [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 255)]))
                #expect(client.isAtEnd)
                client.client.close()
                waitUntil("the socket has ended") { ends.entries == [.failed(code)] }
                #expect(messages.entries.isEmpty)
            }
        }
    }

    // Guarantees: The handler of the end is called once, after all other handlers of the socket, however it ends.
    @Test func `a client that leaves without a word is noticed, as is one that resets`() throws {
        try withSockets { server, ends in
            try SocketClient(server.port).client.close()
            waitUntil("the first has ended") { ends.entries == [.connectionEnded(.peerClosed)] }
            let client = try SocketClient(server.port)
            client.client.send(Array(Frame(.text, "half").bytes.dropLast()))
            client.client.reset()
            waitUntil("the second has ended") { ends.entries.last == .connectionEnded(.reset) }
        }
    }

    // Guarantees: A client that does not read makes the sender wait, and loses no message.
    @Test func `a client that does not read makes the sender wait, and loses nothing`() throws {
        let waits = Shared()
        let count = 400
        let piece = String(repeating: "x", count: 16_000)
        try withSockets(onMessage: { socket, _ in
            let next = Shared()
            func send(_ socket: WebSocket) {
                while next.count < count {
                    next.increment()
                    if !socket.send("\(next.count) \(piece)") {
                        waits.increment()
                        return
                    }
                }
            }
            socket.onDrained { send($0) }
            send(socket)
        }) { server, _ in
            let client = try SocketClient(server.port)
            client.send(.text, "begin")
            waitUntil("the sender waits") { waits.count > 0 }
            for number in 1...count { #expect(client.frame() == .text("\(number) \(piece)")) }
        }
    }

    @Test func `a paused socket delivers nothing, and then everything in order`() throws {
        let messages = Log<WebSocket.Message>()
        let held = HeldSocket()
        try withSockets(onMessage: { socket, message in
            messages.add(message)
            if messages.entries.count == 3 {
                socket.isReadingPaused = true
                held.socket = socket
            }
        }) { server, _ in
            let client = try SocketClient(server.port)
            client.client.send((1...10).flatMap { Frame(.text, "\($0)").bytes })
            waitUntil("the socket is paused") { messages.entries.count == 3 }
            // The request is served behind what the loop would have delivered.
            let other = try Client(server.port)
            other.send(request("GET /"))
            #expect(other.answer().head.hasPrefix("HTTP/1.1 400 "))
            #expect(messages.entries.count == 3)
            try server.perform { _ in held.socket?.isReadingPaused = false }
            waitUntil("all are there") { messages.entries == (1...10).map { .text("\($0)") } }
            try server.perform { _ in held.socket = nil }
        }
    }

    // Guarantees: A client that sends many small messages waits behind other inputs of the loop.
    @Test func `many small messages are delivered in steps, between which others have their turn`() throws {
        let total = 10_000
        let (messages, seenByRequest) = (Shared(), Log<Int>())
        let serving = try Serving { loop in
            let server = try HTTPServer(.tcp(host: "127.0.0.1", port: 0))
            try loop.add(server, forMode: .default) { exchange in
                if exchange.request.path == "/count" {
                    seenByRequest.add(messages.count)
                    exchange.respond(.text("ok"))
                } else {
                    exchange.upgradeToWebSocket { $0.onMessage { _, _ in messages.increment() } }
                }
            }
            return server
        }
        let (client, other) = (try SocketClient(serving.port), try Client(serving.port))
        let (isHeld, maySee) = (Gate(), Gate())
        serving.thread.runLoop.perform {
            isHeld.open()
            _ = maySee.wait()
        }
        #expect(isHeld.wait())
        client.client.send((0..<total).flatMap { _ in Frame(.text, "").bytes })
        other.send(request("GET /count"))
        maySee.open()
        #expect(other.answer().body == "ok")
        #expect(seenByRequest.entries.allSatisfy { $0 < total })
        waitUntil("all are delivered") { messages.count == total }
        try serving.end()
    }

    @Test func `a socket outlives its server, and is served in its modes`() throws {
        let mode = RunLoop.Mode("socket")
        let (messages, ends) = (Log<WebSocket.Message>(), Log<WebSocket.EndReason>())
        let serving = try Serving { loop in
            let server = try HTTPServer(.tcp(host: "127.0.0.1", port: 0))
            for mode in [mode, .default] {
                try loop.add(server, forMode: mode) { exchange in
                    exchange.upgradeToWebSocket { socket in
                        socket.onMessage { messages.add($1) }
                        socket.onEnd { ends.add($1) }
                    }
                }
            }
            return server
        }
        let client = try SocketClient(serving.port)
        waitUntil("the connection has left the server") { (try? serving.perform { $0.connectionCount }) == 0 }
        try serving.perform { $0.invalidate() }
        client.send(.text, "in the default mode")
        waitUntil("the first is there") { messages.entries.count == 1 }
        let isInside = Gate()
        serving.thread.runLoop.perform {
            isInside.open()
            let loop = RunLoop.current
            while messages.entries.count < 2 { _ = loop.run(in: mode, until: .now + .milliseconds(10)) }
        }
        #expect(isInside.wait())
        client.send(.text, "in the other one")
        waitUntil("the second is there") { messages.entries.count == 2 }
        client.send(.close, [3, 232])
        #expect(client.frame() == .init(.close, [3, 232]) && client.isAtEnd)
        client.client.close()
        waitUntil("it has ended") { ends.entries == [.closed(.normal, reason: "")] }
        serving.thread.stop()
        serving.thread.join()
    }

    // MARK: - Help

    /// A server whose sockets send back what comes, unless the test handles messages.
    private func withSockets(
        _ options: WebSocket.Options = WebSocket.Options(),
        onMessage: @escaping @Sendable (WebSocket, WebSocket.Message) -> Void = { socket, message in
            switch message {
            case .text(let text): socket.send(text)
            case .binary(let bytes): socket.send(bytes)
            @unknown default: break
            }
        }, _ body: (Serving, Log<WebSocket.EndReason>) throws -> Void
    ) throws {
        let ends = Log<WebSocket.EndReason>()
        try withServer(handler: { exchange in
            exchange.upgradeToWebSocket(options: options) { socket in
                socket.onMessage(onMessage)
                socket.onEnd { _, reason in ends.add(reason) }
            }
        }) { try body($0, ends) }
    }

    /// A socket for its own handlers.
    ///
    /// `@unchecked`: only the thread of the server's loop uses it.
    private final class HeldSocket: @unchecked Sendable { var socket: WebSocket? }
}
