#if NIO
    public import NIOCore

    extension RunLoopDatagramBootstrap {
        /// Opens a socket that receives at a port of UDP.
        ///
        /// - Parameters:
        ///   - host: The numeric address of an interface.
        ///   - port: The port; for 0 the kernel chooses a free one.
        ///   - channelInitializer: Initializes the channel, and returns the result, such as a `NIOAsyncChannel`.
        /// - Returns: The result of the initializer.
        /// - Throws: The error for which the socket could not be opened.
        public func bind<Output: Sendable>(
            host: String, port: Int,
            channelInitializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
        ) async throws -> Output {
            try await bind(to: .init(ipAddress: host, port: port), channelInitializer: channelInitializer)
        }

        /// Opens a socket that receives at an address.
        ///
        /// - Parameters:
        ///   - address: The address.
        ///   - channelInitializer: Initializes the channel, and returns the result, such as a `NIOAsyncChannel`.
        /// - Returns: The result of the initializer.
        /// - Throws: The error for which the socket could not be opened.
        public func bind<Output: Sendable>(
            to address: SocketAddress,
            channelInitializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
        ) async throws -> Output {
            try await opened(channelInitializer) { channel in channel.bind(to: address) }
        }

        /// Opens a socket that sends to one peer, and receives from this peer only.
        ///
        /// - Parameters:
        ///   - host: The numeric address of the peer.
        ///   - port: The port of the peer.
        ///   - channelInitializer: Initializes the channel, and returns the result, such as a `NIOAsyncChannel`.
        /// - Returns: The result of the initializer.
        /// - Throws: The error for which the socket could not be opened.
        public func connect<Output: Sendable>(
            host: String, port: Int,
            channelInitializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
        ) async throws -> Output {
            try await connect(to: .init(ipAddress: host, port: port), channelInitializer: channelInitializer)
        }

        /// Opens a socket that sends to one peer, and receives from this peer only.
        ///
        /// - Parameters:
        ///   - address: The address of the peer.
        ///   - channelInitializer: Initializes the channel, and returns the result, such as a `NIOAsyncChannel`.
        /// - Returns: The result of the initializer.
        /// - Throws: The error for which the socket could not be opened.
        public func connect<Output: Sendable>(
            to address: SocketAddress,
            channelInitializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
        ) async throws -> Output {
            try await opened(channelInitializer) { channel in channel.connect(to: address) }
        }
    }
#endif
