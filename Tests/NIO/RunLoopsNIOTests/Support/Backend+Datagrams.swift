import Glibc
import NIOCore
import NIOPosix
import RunLoops
import RunLoopsNIO
import Streams

/// What the bootstraps of datagrams of both kinds have.
protocol DatagramOpening {
    func bind(host: String, port: Int) -> EventLoopFuture<any Channel>
    func bind(unixDomainSocketPath: String) -> EventLoopFuture<any Channel>
    func connect(host: String, port: Int) -> EventLoopFuture<any Channel>
    func connect(unixDomainSocketPath: String) -> EventLoopFuture<any Channel>
    func option<Option: ChannelOption>(_ option: Option, _ value: Option.Value) -> any DatagramOpening
}

extension DatagramBootstrap: DatagramOpening {
    func option<Option: ChannelOption>(_ option: Option, _ value: Option.Value) -> any DatagramOpening {
        channelOption(option, value: value)
    }
}

extension RunLoopDatagramBootstrap: DatagramOpening {
    func option<Option: ChannelOption>(_ option: Option, _ value: Option.Value) -> any DatagramOpening {
        channelOption(option, value: value)
    }
}

extension Backend {
    func datagrams(_ initialize: @escaping @Sendable (any Channel) throws -> Void) -> any DatagramOpening {
        let initializer: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
            channel.eventLoop.makeCompletedFuture { try initialize(channel) }
        }
        if kind == .posix { return DatagramBootstrap(group: group).channelInitializer(initializer) }
        return RunLoopDatagramBootstrap(group: group).channelInitializer(initializer)
    }

    /// A channel of datagrams that notes its events.
    func recorded(_ log: Log, _ handler: (any ChannelHandler & Sendable)? = nil) -> any DatagramOpening {
        datagrams { channel in
            if let handler { try channel.pipeline.syncOperations.addHandler(handler) }
            try channel.pipeline.syncOperations.addHandlers([Opener(), Recorder(log)])
        }
    }

    /// A channel of datagrams that sends every datagram back.
    func answering() throws -> any Channel {
        try datagrams { try $0.pipeline.syncOperations.addHandler(Answering()) }
            .bind(host: "127.0.0.1", port: 0).wait()
    }

    /// A channel over the pipes of a child.
    func pipe(
        over child: ChildPipes, halfClosure: Bool = false,
        _ initialize: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<any Channel> {
        let initializer: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
            channel.eventLoop.makeCompletedFuture { try initialize(channel) }
        }
        if kind == .posix {
            return NIOPipeBootstrap(group: group).channelInitializer(initializer)
                .channelOption(.allowRemoteHalfClosure, value: halfClosure)
                .takingOwnershipOfDescriptors(input: child.nearEnds.input, output: child.nearEnds.output)
        }
        return RunLoopPipeBootstrap(group: group).channelInitializer(initializer)
            .channelOption(.allowRemoteHalfClosure, value: halfClosure)
            .takingOwnershipOfDescriptors(input: child.fromChild(), output: child.toChild())
    }
}

/// Passes on the bytes of a datagram, without the address of the sender.
final class Opener: ChannelInboundHandler, Sendable {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias InboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(wrapInboundOut(unwrapInboundIn(data).data))
    }
}

/// Sends every datagram back.
final class Answering: ChannelInboundHandler, Sendable {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(data, promise: nil)
    }
}

/// A datagram with a text.
func envelope(_ text: String, to channel: any Channel) -> AddressedEnvelope<ByteBuffer> {
    AddressedEnvelope(remoteAddress: channel.localAddress!, data: ByteBuffer(string: text))
}

/// A channel of datagrams that is bound to a port.
func bound(
    _ loop: LoopThread, options: DatagramSocket.Options = .init(),
    _ initialize: @escaping @Sendable (any Channel) throws -> Void = { _ in }
) throws -> any Channel {
    try bootstrap(loop, options: options, initialize).bind(host: "127.0.0.1", port: 0).wait()
}

/// A bootstrap of channels of datagrams on a thread's event loop.
func bootstrap(
    _ loop: LoopThread, options: DatagramSocket.Options = .init(),
    _ initialize: @escaping @Sendable (any Channel) throws -> Void = { _ in }
) -> RunLoopDatagramBootstrap {
    RunLoopDatagramBootstrap(group: loop.eventLoop).socketOptions(options).channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try initialize(channel) }
    }
}
