import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Answers each request with two bytes.
private final class Answer: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "2"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "ok")))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}

/// Sends frames back.
private final class FrameEcho: ChannelInboundHandler, Sendable {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        let answer = WebSocketFrame(fin: frame.fin, opcode: frame.opcode, data: frame.unmaskedData)
        context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
        if frame.opcode == .connectionClose { context.close(promise: nil) }
    }
}

let handlerRows = [
    Comparison("HTTP/1: requests in a row, one in pieces, and then garbage") { backend in
        let server = try backend.bind { channel in
            try channel.pipeline.syncOperations.configureHTTPServerPipeline()
            try channel.pipeline.syncOperations.addHandlers([BackPressureHandler(), Answer()])
        }
        let client = RawClient(server)
        let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        client.send(String(repeating: request, count: 3) + request.prefix(9))
        client.send(request.dropFirst(9) + "GET / HTTP/9 garbage\r\n\r\n")
        return client.read(until: "400 Bad Request").replacing("\r\n", with: "~")
    },
    Comparison("WebSocket: the upgrade, frames, and the close") { backend in
        let server = try backend.bind { channel in
            let answer = Answer()
            let upgrader = NIOWebSocketServerUpgrader(
                shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
                upgradePipelineHandler: { channel, _ in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(FrameEcho())
                    }
                })
            try channel.pipeline.syncOperations.configureHTTPServerPipeline(
                withServerUpgrade: (
                    [upgrader],
                    { context in context.pipeline.syncOperations.removeHandler(answer, promise: nil) }
                ))
            try channel.pipeline.syncOperations.addHandler(answer)
        }
        let client = RawClient(server)
        client.send(
            "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        let head = client.read(until: "\r\n\r\n").replacing("\r\n", with: "~")
        // Two masked frames, whose mask changes nothing: a text, and the close.
        client.send([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69])
        let echo = client.read(4)
        client.send([0x88, 0x80, 0, 0, 0, 0])
        return "\(head) \(echo.suffix(2)) \(client.readToEnd())"
    },
    Comparison("IdleStateHandler") { backend in
        let log = Log()
        let server = try backend.bind { channel in
            try channel.pipeline.syncOperations.addHandlers([
                IdleStateHandler(readTimeout: .milliseconds(60)), Recorder(log),
            ])
        }
        let client = RawClient(server)
        log.wait(for: "event:read")
        _ = client.socket
        return log.text.split(separator: " ").prefix(4).joined(separator: " ")
    },
    Comparison("BackPressureHandler stops to read while the peer does not") { backend in
        let log = Log()
        let barrier = try backend.barrier()
        let child = Place<any Channel>()
        let server = try backend.bind { channel in
            try channel.pipeline.syncOperations.addHandlers([BackPressureHandler(), Recorder(log)])
            child.put(channel)
        }
        let client = RawClient(server)
        log.wait(for: "active:true")
        log.note("write", child.get().writeAndFlush(ByteBuffer(repeating: 1, count: 16 << 20)))
        log.wait(for: "writable:false")
        client.send("a")
        backend.passBarrier(barrier)
        log.note("|")
        var count = 0
        while count < 16 << 20 { count += client.read(1 << 20).utf8.count }
        log.wait(for: "read:a")
        let words = log.text.split(separator: " ")
        return "\(words.firstIndex(of: "|")! < words.firstIndex(of: "read:a")!) \(count)"
    },
    Comparison("NIOAsyncChannel: echo, and then the end") { backend in
        let log = Log()
        let server = try backend.bind(halfClosure: true) { channel in
            let wrapped = try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                wrappingChannelSynchronously: channel,
                configuration: .init(isOutboundHalfClosureEnabled: true))
            Task {
                do {
                    try await wrapped.executeThenClose { inbound, outbound in
                        for try await bytes in inbound { try await outbound.write(bytes) }
                        log.note("end")
                    }
                    log.note("closed")
                } catch { log.note("\(error)") }
            }
        }
        let client = RawClient(server)
        var sum = 0
        for _ in 0..<50 {
            client.send(String(repeating: "x", count: 1_000))
            sum += client.read(1_000).utf8.count
        }
        client.endOutput()
        let rest = client.read(1)
        log.wait(for: "closed")
        return "\(sum) \(rest) \(log.text)"
    },
]
