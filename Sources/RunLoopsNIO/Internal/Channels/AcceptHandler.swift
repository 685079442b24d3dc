#if NIO
    internal import NIOCore

    /// The handler that initializes accepted channels, each on its own event loop.
    final class AcceptHandler<Output: Sendable, Element>: ChannelInboundHandler, Sendable {
        typealias InboundIn = any Channel
        typealias InboundOut = Element
        private let options: ChannelOptions.Storage
        private let initialize: ChannelInitializer<Output>
        private let element: @Sendable (any Channel, Output) -> Element

        /// Makes a handler.
        ///
        /// - Parameters:
        ///   - options: The options of the accepted channels.
        ///   - initialize: Initializes each of them.
        ///   - element: What the next handler reads, for a channel and the result of its initializer.
        init(
            _ options: ChannelOptions.Storage, _ initialize: @escaping ChannelInitializer<Output>,
            element: @escaping @Sendable (any Channel, Output) -> Element
        ) {
            self.options = options
            self.initialize = initialize
            self.element = element
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let child = unwrapInboundIn(data)
            let server = context.loopBound
            setUp(child, options, context.eventLoop, initialize).assumeIsolated().whenComplete {
                [element] result in
                switch result {
                case .success(let output) where server.value.channel.isActive:
                    server.value.fireChannelRead(Self.wrapInboundOut(element(child, output)))
                case .success: discard(child, ChannelError.ioOnClosedChannel, server.value)
                case .failure(let error): discard(child, error, server.value)
                }
            }
        }

        /// Closes the channel of the listener when the program asks it to quiesce, as SwiftNIO's own does.
        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is ChannelShouldQuiesceEvent {
                let bound = context.loopBound
                context.channel.close().assumeIsolated().whenFailure { bound.value.fireErrorCaught($0) }
            }
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Applies the options of an accepted channel, and initializes it, on its own event loop.
    ///
    /// - Returns: The result, as a future of the listener's event loop.
    private func setUp<Output: Sendable>(
        _ child: any Channel, _ options: ChannelOptions.Storage, _ loop: any EventLoop,
        _ initialize: @escaping ChannelInitializer<Output>
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
#endif
