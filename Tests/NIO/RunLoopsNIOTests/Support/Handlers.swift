import NIOCore

/// Notes every event of a channel.
final class Recorder: ChannelDuplexHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let log: Log

    init(_ log: Log) { self.log = log }

    func handlerAdded(context: ChannelHandlerContext) { log.note("added") }
    func handlerRemoved(context: ChannelHandlerContext) { log.note("removed") }
    func channelRegistered(context: ChannelHandlerContext) {
        log.note("registered")
        context.fireChannelRegistered()
    }
    func channelUnregistered(context: ChannelHandlerContext) {
        log.note("unregistered")
        context.fireChannelUnregistered()
    }
    func channelActive(context: ChannelHandlerContext) {
        log.note("active:\(context.channel.isActive)")
        context.fireChannelActive()
    }
    func channelInactive(context: ChannelHandlerContext) {
        log.note("inactive:\(context.channel.isActive)")
        context.fireChannelInactive()
    }
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        log.note("read:\(String(buffer: unwrapInboundIn(data)).prefix(12))")
        context.fireChannelRead(data)
    }
    func channelReadComplete(context: ChannelHandlerContext) {
        log.note("complete")
        context.fireChannelReadComplete()
    }
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        log.note("writable:\(context.channel.isWritable)")
        context.fireChannelWritabilityChanged()
    }
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        log.note("event:\(event)")
        context.fireUserInboundEventTriggered(event)
    }
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        log.note("error:\(name(of: error))")
    }
    func connect(context: ChannelHandlerContext, to address: SocketAddress, promise: EventLoopPromise<Void>?)
    {
        log.note("connect")
        context.connect(to: address, promise: promise)
    }
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        log.note("close:\(mode)")
        context.close(mode: mode, promise: promise)
    }
}

/// Sends back what it reads.
final class Echo: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(data, promise: nil)
    }
}

/// Calls functions for some events.
final class Reacting: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let active: ((ChannelHandlerContext) -> Void)?
    private let read: ((ChannelHandlerContext, String) -> Void)?

    init(
        active: ((ChannelHandlerContext) -> Void)? = nil,
        read: ((ChannelHandlerContext, String) -> Void)? = nil
    ) {
        self.active = active
        self.read = read
    }

    func channelActive(context: ChannelHandlerContext) {
        active?(context)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        read?(context, String(buffer: unwrapInboundIn(data)))
        context.fireChannelRead(data)
    }
}
