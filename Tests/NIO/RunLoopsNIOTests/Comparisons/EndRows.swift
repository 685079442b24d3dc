import NIOCore

private struct Refusal: Error {}

let endRows = [
    Comparison("the initializer of a connection fails") { backend in
        let log = Log()
        let server = try backend.listener { channel in
            log.note("child", channel.closeFuture)
            try channel.pipeline.syncOperations.addHandler(Recorder(log))
            throw Refusal()
        }.onServer { try $0.pipeline.syncOperations.addHandler(Errors(log)) }
            .bind(host: "127.0.0.1", port: 0).wait()
        let client = RawClient(server)
        let text = client.read(1)
        log.wait(for: "child:ok")
        return "\(text) \(log.text)"
    },
    Comparison("a channel closes itself in channelActive") { backend in
        let log = Log()
        let server = try backend.bind { channel in
            try channel.pipeline.syncOperations.addHandlers([
                Recorder(log), Reacting(active: { context in context.close(promise: nil) }),
            ])
        }
        let client = RawClient(server)
        log.wait(for: "removed")
        return "\(client.read(1)) \(log.text)"
    },
    Comparison("a channel closes itself in channelRead") { backend in
        let log = Log()
        let server = try backend.bind { channel in
            try channel.pipeline.syncOperations.addHandlers([
                Recorder(log),
                Reacting(read: { context, _ in
                    log.note("promise", context.close())
                    log.note("isActive:\(context.channel.isActive)")
                }),
            ])
        }
        let client = RawClient(server)
        client.send("a")
        log.wait(for: "removed")
        return log.text
    },
    Comparison("closeFuture, the addresses, and the handlers' removal") { backend in
        let log = Log()
        let child = Place<any Channel>()
        let server = try backend.bind {
            try $0.pipeline.syncOperations.addHandler(Recorder(log))
            child.put($0)
        }
        let client = RawClient(server)
        log.wait(for: "active:true")
        let channel = child.get()
        log.note("closeFuture", channel.closeFuture)
        let isParent = channel.parent === server
        let local = channel.localAddress?.port == server.localAddress?.port
        try channel.close().wait()
        log.wait(for: "closeFuture:ok")
        try channel.eventLoop.submit {}.wait()
        _ = client.read(1)
        return
            "\(isParent) \(local) \(channel.localAddress == nil) \(channel.remoteAddress == nil) \(log.text)"
    },
    Comparison("operations on a closed channel") { backend in
        let child = Place<any Channel>()
        let server = try backend.bind { child.put($0) }
        let client = RawClient(server)
        let channel = child.get()
        client.close()
        try channel.closeFuture.wait()
        channel.flush()
        channel.read()
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
        return [
            result(channel.writeAndFlush(ByteBuffer(string: "x"))), result(channel.close()),
            result(channel.close(mode: .output)), result(channel.close(mode: .input)),
            result(channel.setOption(.autoRead, value: true)), result(channel.getOption(.autoRead)),
            result(channel.connect(to: address)), result(channel.register()),
            result(channel.bind(to: address)),
        ].joined(separator: " ")
    },
    Comparison("operations that an active channel does not support") { backend in
        let child = Place<any Channel>()
        let log = Log()
        let server = try backend.bind {
            child.put($0)
            try $0.pipeline.syncOperations.addHandler(Recorder(log))
        }
        let client = RawClient(server)
        log.wait(for: "active:true")
        let channel = child.get()
        let text = [
            result(channel.register()), result(channel.triggerUserOutboundEvent("event")),
            result(server.writeAndFlush(ByteBuffer(string: "x"))), result(server.close(mode: .output)),
            result(server.triggerUserOutboundEvent("event")), "\(server.isWritable) \(server.isActive)",
        ].joined(separator: " ")
        client.close()
        log.wait(for: "removed")
        return text
    },
    Comparison("the listener closes, and its connection stays") { backend in
        let log = Log()
        let server = try backend.bind { try $0.pipeline.syncOperations.addHandlers([Recorder(log), Echo()]) }
        let client = RawClient(server)
        log.wait(for: "active:true")
        let first = result(server.close())
        let second = result(server.close())
        client.send("a")
        let text = client.read(1)
        client.close()
        log.wait(for: "removed")
        return "\(first) \(second) \(server.isActive) \(server.localAddress == nil) \(text) \(log.text)"
    },
    Comparison("the group shuts down") { backend in
        let log = Log()
        let server = try backend.bind { try $0.pipeline.syncOperations.addHandler(Recorder(log)) }
        let client = RawClient(server)
        log.wait(for: "active:true")
        log.note("timer", backend.loop.scheduleTask(in: .hours(1)) {}.futureResult)
        let isDone = Place<Bool>()
        backend.group.shutdownGracefully { isDone.put($0 == nil) }
        return "\(isDone.get()) \(client.read(1)) \(log.text)"
    },
    Comparison(
        "a write that is stuck, when the group shuts down",
        differences: .init(
            on: [.secureConnection], reason: "a TLS peer hears that the stream is not complete",
            onRunLoop:
                "true added registered active:true writable:false close:all write:I/O-on-closed-channel "
                + "inactive:false unregistered removed close:ok false")
    ) { backend in
        let log = Log()
        let child = Place<any Channel>()
        let server = try backend.bind {
            try $0.pipeline.syncOperations.addHandler(Recorder(log))
            child.put($0)
        }
        let client = RawClient(server)
        log.wait(for: "active:true")
        log.note("write", child.get().writeAndFlush(ByteBuffer(repeating: 1, count: 32 << 20)))
        log.note("close", child.get().closeFuture)
        let isDone = Place<Bool>()
        backend.group.shutdownGracefully { isDone.put($0 == nil) }
        let text = "\(isDone.get()) \(log.text)"
        return "\(text) \(client.readToEnd() >= 0)"
    },
]

/// Notes the errors of a listener's channel.
final class Errors: ChannelInboundHandler, Sendable {
    typealias InboundIn = any Channel
    private let log: Log

    init(_ log: Log) { self.log = log }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        log.note("error:\(name(of: error))")
    }
}
