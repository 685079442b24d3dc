#if NIO
    public import NIOCore
    public import RunLoops

    extension RunLoopConnectionBootstrap {
        /// Connects to a host.
        ///
        /// - Parameters:
        ///   - host: A name, or a numeric address.
        ///   - port: The port.
        ///   - channelInitializer: Initializes the channel, and returns the result, such as a `NIOAsyncChannel`.
        /// - Returns: The result of the initializer.
        /// - Throws: The error for which the channel could not be connected.
        public func connect<Output: Sendable>(
            host: String, port: Int,
            channelInitializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
        ) async throws -> Output {
            try await made(channelInitializer) { channel in channel.connected(host, port) }
        }

        /// Connects to an address.
        ///
        /// - Parameters:
        ///   - address: The address.
        ///   - channelInitializer: Initializes the channel, and returns the result, such as a `NIOAsyncChannel`.
        /// - Returns: The result of the initializer.
        /// - Throws: The error for which the channel could not be connected.
        public func connect<Output: Sendable>(
            to address: SocketAddress,
            channelInitializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
        ) async throws -> Output {
            try await made(channelInitializer) { channel in channel.connect(to: address) }
        }

        /// Connects to a Unix socket.
        ///
        /// - Parameters:
        ///   - path: The path.
        ///   - channelInitializer: Initializes the channel, and returns the result, such as a `NIOAsyncChannel`.
        /// - Returns: The result of the initializer.
        /// - Throws: The error for which the channel could not be connected.
        public func connect<Output: Sendable>(
            unixDomainSocketPath path: String,
            channelInitializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
        ) async throws -> Output {
            try await made(channelInitializer) { channel in channel.connected(toPath: path) }
        }

        /// Makes a channel of a socket that is connected already.
        ///
        /// - Parameters:
        ///   - socket: The socket, which the channel owns from now on. It is made non-blocking.
        ///   - channelInitializer: Initializes the channel, and returns the result, such as a `NIOAsyncChannel`.
        /// - Returns: The result of the initializer.
        /// - Throws: The error, for example because the socket is not connected.
        public func withConnectedSocket<Output: Sendable>(
            _ socket: consuming OwnedDescriptor,
            channelInitializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
        ) async throws -> Output {
            let box = SocketBox(socket)
            return try await made(channelInitializer) { channel in channel.adopted(box) }
        }
    }
#endif
