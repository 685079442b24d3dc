import Glibc
import NIOCore
import NIOPosix

/// A socket that listens, and whose backlog is full: attempts to connect to it get no answer.
private final class FullListener {
    private var sockets: [CInt] = []
    let address: SocketAddress

    init() throws {
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        sockets.append(listener)
        let any = try SocketAddress(ipAddress: "127.0.0.1", port: 0)
        var name = [UInt8](repeating: 0, count: 16)
        var size = socklen_t(name.count)
        let isReady = any.withSockAddr { bind(listener, $0, socklen_t($1)) } == 0 && listen(listener, 0) == 0
        let isNamed = name.withUnsafeMutableBytes {
            getsockname(listener, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), &size)
        }
        if !isReady || isNamed != 0 { fatalError("listen: \(errno)") }
        // The port is the second field of the address.
        address = try SocketAddress(ipAddress: "127.0.0.1", port: Int(name[2]) << 8 | Int(name[3]))
        for _ in 0..<4 {
            let client = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            _ = address.withSockAddr { connect(client, $0, socklen_t($1)) }
            sockets.append(client)
        }
    }

    deinit { for socket in sockets { close(socket) } }
}

/// A port at which nothing listens.
private func closedPort(_ backend: Backend) throws -> Int {
    let server = try backend.bind()
    defer { try? server.close().wait() }
    return server.localAddress!.port!
}

let openingRows = [
    Comparison("connecting to an address is refused", kinds: [.runLoop]) { backend in
        let log = Log()
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: closedPort(backend))
        let future = backend.client { try $0.pipeline.syncOperations.addHandler(Recorder(log)) }
            .connect(to: address)
        let error = result(future)
        log.wait(for: "removed")
        return "\(error) \(log.text)"
    },
    Comparison("a connected channel, and its events", kinds: Backend.Kind.plain) { backend in
        let log = Log()
        let server = try backend.bind { try $0.pipeline.syncOperations.addHandler(Echo()) }
        let channel = try backend.client { try $0.pipeline.syncOperations.addHandler(Recorder(log)) }
            .connect(host: "127.0.0.1", port: server.localAddress!.port!).wait()
        log.wait(for: "active:true")
        let addresses =
            "\(channel.remoteAddress?.port == server.localAddress?.port) \(channel.localAddress != nil)"
        try channel.writeAndFlush(ByteBuffer(string: "hello")).wait()
        log.wait(for: "complete")
        try channel.close().wait()
        log.wait(for: "removed")
        return "\(addresses) \(log.text)"
    },
    Comparison("writes before the connection is made", kinds: Backend.Kind.plain) { backend in
        let log = Log()
        let server = try backend.bind { try $0.pipeline.syncOperations.addHandler(Echo()) }
        let channel = try backend.client { channel in
            try channel.pipeline.syncOperations.addHandler(Recorder(log))
            log.note("write", channel.writeAndFlush(ByteBuffer(string: "early")))
        }.connect(to: server.localAddress!).wait()
        log.wait(for: "complete")
        try channel.close().wait()
        log.wait(for: "removed")
        return log.text
    },
    Comparison("the initializer of a client fails", kinds: [.runLoop]) { backend in
        struct Refusal: Error {}
        let log = Log()
        let server = try backend.bind()
        let future = backend.client { channel in
            try channel.pipeline.syncOperations.addHandler(Recorder(log))
            throw Refusal()
        }.connect(to: server.localAddress!)
        let error = result(future)
        log.wait(for: "removed")
        return "\(error) \(log.text)"
    },
    Comparison("connecting takes too long", kinds: [.runLoop]) { backend in
        let log = Log()
        let listener = try FullListener()
        let future = backend.client(timeout: .milliseconds(100)) {
            try $0.pipeline.syncOperations.addHandler(Recorder(log))
        }.connect(to: listener.address)
        let error = result(future)
        log.wait(for: "removed")
        return "\(error) \(log.text.replacing("close:all ", with: ""))"
    },
    Comparison("a channel closes while it connects", kinds: [.runLoop]) { backend in
        let log = Log()
        let listener = try FullListener()
        let made = Place<any Channel>()
        let future = backend.client { channel in
            try channel.pipeline.syncOperations.addHandler(Recorder(log))
            made.put(channel)
        }.connect(to: listener.address)
        log.wait(for: "connect")
        let second = result(made.get().connect(to: listener.address))
        let close = result(made.get().close())
        log.wait(for: "removed")
        return "\(second) \(close) \(result(future)) \(log.text)"
    },
    Comparison("a Unix socket", kinds: Backend.Kind.plain) { backend in
        let log = Log()
        let path = "/tmp/run-loops-nio-\(getpid())-\(backend.kind)"
        unlink(path)
        let server = try backend.listener { try $0.pipeline.syncOperations.addHandler(Echo()) }
            .bind(unixDomainSocketPath: path).wait()
        let channel = try backend.client { try $0.pipeline.syncOperations.addHandler(Recorder(log)) }
            .connect(unixDomainSocketPath: path).wait()
        let remote = channel.remoteAddress?.pathname == path
        let local = server.localAddress?.pathname == path
        try channel.writeAndFlush(ByteBuffer(string: "hello")).wait()
        log.wait(for: "complete")
        let client = RawClient(server)
        client.send("raw")
        let text = client.read(3)
        try server.close().wait()
        unlink(path)
        return "\(remote) \(local) \(text) \(log.text)"
    },
    Comparison("no Unix socket at the path", kinds: [.runLoop]) { backend in
        result(backend.client().connect(unixDomainSocketPath: "/tmp/run-loops-nio-nothing-is-here"))
    },
    Comparison("a path that is too long", kinds: [.runLoop]) { backend in
        result(backend.client().connect(unixDomainSocketPath: String(repeating: "x", count: 200)))
    },
    Comparison("an address in use") { backend in
        let server = try backend.bind()
        return result(backend.listener { _ in }.bind(host: "127.0.0.1", port: server.localAddress!.port!))
    },
    Comparison("a host that is a name, and races its addresses", kinds: [.runLoop]) { backend in
        let log = Log()
        let server = try backend.bind { try $0.pipeline.syncOperations.addHandler(Echo()) }
        let channel = try backend.client { try $0.pipeline.syncOperations.addHandler(Recorder(log)) }
            .connect(host: "localhost", port: server.localAddress!.port!).wait()
        try channel.writeAndFlush(ByteBuffer(string: "hello")).wait()
        log.wait(for: "read:hello")
        return "\(channel.isActive) \(log.text.contains("connect"))"
    },
    Comparison("handlers of the protocol stand before those of the initializer", kinds: [.runLoop]) {
        backend in
        let log = Log()
        let server = try backend.bind()
        let channel = try backend.client { try $0.pipeline.syncOperations.addHandler(Named("second", log)) }
            .protocolHandlers { [Named("first", log)] }.connect(to: server.localAddress!).wait()
        try channel.close().wait()
        return log.text
    },
    Comparison("a listener without autoRead accepts for each read()") { backend in
        let log = Log()
        let barrier = try backend.barrier()
        let server = try backend.listener { _ in log.note("child") }
            .serverOption(.autoRead, false).serverOption(.maxMessagesPerRead, 1)
            .bind(host: "127.0.0.1", port: 0).wait()
        let clients = [RawClient(server), RawClient(server)]
        backend.passBarrier(barrier)
        log.note("|")
        server.read()
        log.wait(for: "child")
        backend.passBarrier(barrier)
        log.note("|")
        server.read()
        log.wait(for: "child", times: 2)
        return "\(clients.count) \(log.text)"
    },
    Comparison("the events of a listener") { backend in
        let log = Log()
        let server = try backend.listener { _ in }
            .onServer { try $0.pipeline.syncOperations.addHandler(ListenerRecorder(log)) }
            .bind(host: "127.0.0.1", port: 0).wait()
        let client = RawClient(server)
        log.wait(for: "complete")
        try server.close().wait()
        log.wait(for: "removed")
        return "\(client.socket >= 0) \(log.text)"
    },
]

/// Notes that the channel has become active.
final class Named: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    private let name: String
    private let log: Log

    init(_ name: String, _ log: Log) {
        self.name = name
        self.log = log
    }

    func channelActive(context: ChannelHandlerContext) {
        log.note(name)
        context.fireChannelActive()
    }
}

/// Notes the events of a listener's channel.
final class ListenerRecorder: ChannelDuplexHandler, Sendable {
    typealias InboundIn = any Channel
    typealias OutboundIn = any Channel
    private let log: Log

    init(_ log: Log) { self.log = log }

    func handlerAdded(context: ChannelHandlerContext) { log.note("added") }
    func handlerRemoved(context: ChannelHandlerContext) { log.note("removed") }
    func channelRegistered(context: ChannelHandlerContext) { log.note("registered") }
    func channelUnregistered(context: ChannelHandlerContext) { log.note("unregistered") }
    func channelActive(context: ChannelHandlerContext) { log.note("active") }
    func channelInactive(context: ChannelHandlerContext) { log.note("inactive") }
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let child = unwrapInboundIn(data)
        log.note("child:\(child.isActive)")
        context.fireChannelRead(data)
    }
    func channelReadComplete(context: ChannelHandlerContext) { log.note("complete") }
    func bind(context: ChannelHandlerContext, to address: SocketAddress, promise: EventLoopPromise<Void>?) {
        log.note("bind")
        context.bind(to: address, promise: promise)
    }
    func read(context: ChannelHandlerContext) {
        log.note("read")
        context.read()
    }
}
