#if NIO
    internal import NIOCore

    /// The handler that initializes accepted channels, each on its own event loop.
    final class AcceptHandler: ChannelInboundHandler, Sendable {
        typealias InboundIn = any Channel
        typealias InboundOut = any Channel
        private let options: ChannelOptions.Storage
        private let initialize: @Sendable (any Channel) -> EventLoopFuture<Void>

        init(
            _ options: ChannelOptions.Storage,
            _ initialize: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
        ) {
            self.options = options
            self.initialize = initialize
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let child = unwrapInboundIn(data)
            let server = context.loopBound
            setUp(child, options, context.eventLoop, initialize).assumeIsolated().whenComplete { result in
                switch result {
                case .success where server.value.channel.isActive:
                    server.value.fireChannelRead(AcceptHandler.wrapInboundOut(child))
                case .success: discard(child, ChannelError.ioOnClosedChannel, server.value)
                case .failure(let error): discard(child, error, server.value)
                }
            }
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            closeIfQuiescing(context, event)
        }
    }

    /// The handler that initializes accepted channels for an asynchronous sequence, whose elements are the results.
    final class InitializingHandler<Output: Sendable>: ChannelInboundHandler, Sendable {
        typealias InboundIn = any Channel
        typealias InboundOut = Output
        private let options: ChannelOptions.Storage
        private let initialize: @Sendable (any Channel) -> EventLoopFuture<Output>

        init(
            _ options: ChannelOptions.Storage,
            _ initialize: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
        ) {
            self.options = options
            self.initialize = initialize
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let child = unwrapInboundIn(data)
            let server = context.loopBound
            setUp(child, options, context.eventLoop) { [initialize] child in
                initialize(child).flatMap { output in
                    let registration = child.eventLoop.makePromise(of: Void.self)
                    child._channelCore.registerAlreadyConfigured0(promise: registration)
                    return registration.futureResult.map { output }
                }
            }.assumeIsolated().whenComplete { result in
                switch result {
                case .success(let output) where server.value.channel.isActive:
                    server.value.fireChannelRead(InitializingHandler<Output>.wrapInboundOut(output))
                case .success: discard(child, ChannelError.ioOnClosedChannel, server.value)
                case .failure(let error): discard(child, error, server.value)
                }
            }
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            closeIfQuiescing(context, event)
        }
    }

    /// Applies the options of an accepted channel, and initializes it, on its own event loop.
    ///
    /// - Returns: The result, as a future of the listener's event loop.
    private func setUp<Output: Sendable>(
        _ child: any Channel, _ options: ChannelOptions.Storage, _ loop: any EventLoop,
        _ initialize: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
    ) -> EventLoopFuture<Output> {
        let body: @Sendable () -> EventLoopFuture<Output> = {
            let begun = (child as? StreamChannel)?.begun() ?? child.eventLoop.makeSucceededVoidFuture()
            return begun.flatMap { options.applyAllChannelOptions(to: child) }.flatMap { initialize(child) }
        }
        if child.eventLoop === loop { return body() }
        let promise = loop.makePromise(of: Output.self)
        let own = child.eventLoop as? RunLoopEventLoop
        let isGiven = own?.give { body().whenComplete { promise.completeWith($0) } } ?? false
        if !isGiven { promise.fail(EventLoopError.shutdown) }
        return promise.futureResult
    }

    /// Closes an accepted channel that could not be initialized, and reports the error to the handlers of the listener.
    private func discard(_ child: any Channel, _ error: any Error, _ context: ChannelHandlerContext) {
        if let child = child as? StreamChannel { child.discard() }
        context.fireErrorCaught(error)
    }

    /// Closes the channel of a listener when the program asks it to quiesce, as SwiftNIO's own does.
    private func closeIfQuiescing(_ context: ChannelHandlerContext, _ event: Any) {
        if event is ChannelShouldQuiesceEvent {
            let bound = context.loopBound
            context.channel.close().assumeIsolated().whenFailure { error in bound.value.fireErrorCaught(error)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }
#endif
