#if NIO
    public import NIOCore

    extension RunLoopListenerBootstrap {
        /// Binds a TCP port, and reads the accepted connections as an asynchronous sequence.
        ///
        /// - Parameters:
        ///   - host: The numeric address of an interface.
        ///   - port: The port; for 0 the kernel chooses a free one.
        ///   - backPressureStrategy: The numbers of waiting connections at which accepting pauses and goes on; nil for SwiftNIO's.
        ///   - childChannelInitializer: Initializes the channel of each connection, and returns the element of the sequence.
        /// - Returns: The channel, whose input are the results of the initializer.
        /// - Throws: The error for which the socket could not be bound.
        public func bind<Output: Sendable>(
            host: String, port: Int,
            serverBackPressureStrategy backPressureStrategy: NIOAsyncSequenceProducerBackPressureStrategies
                .HighLowWatermark? = nil,
            childChannelInitializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
        ) async throws -> NIOAsyncChannel<Output, Never> {
            try await bind(
                to: .init(ipAddress: host, port: port), serverBackPressureStrategy: backPressureStrategy,
                childChannelInitializer: childChannelInitializer)
        }

        /// Binds a Unix socket, and reads the accepted connections as an asynchronous sequence.
        ///
        /// - Parameters:
        ///   - path: The path.
        ///   - backPressureStrategy: The numbers of waiting connections at which accepting pauses and goes on; nil for SwiftNIO's.
        ///   - childChannelInitializer: Initializes the channel of each connection, and returns the element of the sequence.
        /// - Returns: The channel, whose input are the results of the initializer.
        /// - Throws: The error for which the socket could not be bound.
        public func bind<Output: Sendable>(
            unixDomainSocketPath path: String,
            serverBackPressureStrategy backPressureStrategy: NIOAsyncSequenceProducerBackPressureStrategies
                .HighLowWatermark? = nil,
            childChannelInitializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
        ) async throws -> NIOAsyncChannel<Output, Never> {
            try await bind(
                to: .init(unixDomainSocketPath: path), serverBackPressureStrategy: backPressureStrategy,
                childChannelInitializer: childChannelInitializer)
        }

        /// Binds an address, and reads the accepted connections as an asynchronous sequence.
        ///
        /// - Parameters:
        ///   - address: The address.
        ///   - backPressureStrategy: The numbers of waiting connections at which accepting pauses and goes on; nil for SwiftNIO's.
        ///   - childChannelInitializer: Initializes the channel of each connection, and returns the element of the sequence.
        /// - Returns: The channel, whose input are the results of the initializer.
        /// - Throws: The error for which the socket could not be bound.
        public func bind<Output: Sendable>(
            to address: SocketAddress,
            serverBackPressureStrategy backPressureStrategy: NIOAsyncSequenceProducerBackPressureStrategies
                .HighLowWatermark? = nil,
            childChannelInitializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
        ) async throws -> NIOAsyncChannel<Output, Never> {
            let loop = group.nextLoop()
            let initialize: ChannelInitializer<Output> = { child in
                childChannelInitializer(child).flatMap { output in
                    let registration = child.eventLoop.makePromise(of: Void.self)
                    child._channelCore.registerAlreadyConfigured0(promise: registration)
                    return registration.futureResult.map { output }
                }
            }
            return try await loop.awaited { [self] in
                let handler = AcceptHandler(childOptions, initialize) { _, output in output }
                return bound(on: loop, handler) { channel in
                    var configuration = NIOAsyncChannel<Output, Never>.Configuration()
                    if let backPressureStrategy { configuration.backPressureStrategy = backPressureStrategy }
                    let wrapped = try NIOAsyncChannel(
                        wrappingChannelSynchronously: channel, configuration: configuration)
                    return channel.bind(to: address).map { wrapped }
                }
            }
        }
    }
#endif
