#if NIO
    public import NIOCore
    public import RunLoops
    internal import Streams
    internal import Synchronization

    /// Connects channels.
    ///
    /// ```swift
    /// let channel = try await RunLoopConnectionBootstrap(group: eventLoop)
    ///     .channelInitializer { channel in
    ///         channel.eventLoop.makeCompletedFuture {
    ///             try channel.pipeline.syncOperations.addHandler(ReplyHandler())
    ///         }
    ///     }
    ///     .connect(host: "localhost", port: 8080).get()
    /// ```
    ///
    /// Streams resolves the names of hosts and races their addresses. The handlers of the channel see the address that has won.
    ///
    /// > Thread safety: a value.
    public struct RunLoopConnectionBootstrap: ChannelBootstrap, NIOClientTCPBootstrapProtocol, Sendable {
        private let group: RunLoopEventLoopGroup
        private var initializer: ChannelInitializer<Void> = initializesNothing
        private var handlers: (@Sendable () -> [any ChannelHandler])?
        private var options = ChannelOptions.Storage()
        private var timeout = TimeAmount.seconds(10)

        /// Makes a bootstrap.
        ///
        /// - Parameter group: The event loop of the channels, or a group whose event loops take turns.
        /// - Precondition: All event loops are ``RunLoopEventLoop``s.
        public init(group: any EventLoopGroup) {
            self.group = .required(group, by: "RunLoopConnectionBootstrap.init")
        }

        /// Makes a bootstrap; nil if an event loop is not a ``RunLoopEventLoop``.
        ///
        /// - Parameter group: The event loop of the channels, or a group whose event loops take turns.
        public init?(validatingGroup group: any EventLoopGroup) {
            guard let group = RunLoopEventLoopGroup(of: group) else { return nil }
            self.group = group
        }

        /// Sets the function that initializes each channel.
        ///
        /// - Parameter initializer: Called before the channel connects.
        /// - Returns: The changed bootstrap.
        public func channelInitializer(
            _ initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
        ) -> Self { changed { $0.initializer = initializer } }

        /// Sets the function that makes the handlers that stand before all others in each channel.
        ///
        /// - Parameter handlers: Called after the channel was initialized.
        /// - Returns: The changed bootstrap.
        public func protocolHandlers(_ handlers: @escaping @Sendable () -> [any ChannelHandler]) -> Self {
            changed { $0.handlers = handlers }
        }

        /// Sets an option of the channels.
        ///
        /// Options of the socket are applied when it is connected.
        ///
        /// - Parameters:
        ///   - option: The option.
        ///   - value: The value.
        /// - Returns: The changed bootstrap.
        public func channelOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> Self {
            changed { $0.options.append(key: option, value: value) }
        }

        /// Sets the time after which connecting fails with `ChannelError.connectTimeout`; 10 seconds by default.
        ///
        /// - Parameter timeout: The time, which includes the resolution of the name.
        /// - Returns: The changed bootstrap.
        public func connectTimeout(_ timeout: TimeAmount) -> Self { changed { $0.timeout = timeout } }

        // MARK: - Connecting

        /// Connects to a host.
        ///
        /// - Parameters:
        ///   - host: A name, or a numeric address.
        ///   - port: The port.
        /// - Returns: The connected channel; or the error of the address that has failed last.
        public func connect(host: String, port: Int) -> EventLoopFuture<any Channel> {
            made { channel in channel.connected(host, port) }
        }

        /// Connects to an address.
        ///
        /// - Parameter address: The address.
        /// - Returns: The connected channel; or the error.
        public func connect(to address: NIOCore.SocketAddress) -> EventLoopFuture<any Channel> {
            made { channel in channel.connect(to: address) }
        }

        /// Connects to a Unix socket.
        ///
        /// - Parameter path: The path.
        /// - Returns: The connected channel; or the error.
        public func connect(unixDomainSocketPath path: String) -> EventLoopFuture<any Channel> {
            made { channel in channel.connected(toPath: path) }
        }

        /// Makes a channel of a socket that is connected already.
        ///
        /// - Parameter socket: The socket, which the channel owns from now on. It is made non-blocking.
        /// - Returns: The channel; or the error.
        public func withConnectedSocket(_ socket: consuming OwnedDescriptor) -> EventLoopFuture<any Channel> {
            let box = SocketBox(socket)
            return made { channel in channel.adopted(box) }
        }

        private func made(
            _ connect: @escaping @Sendable (StreamChannel) -> EventLoopFuture<Void>
        ) -> EventLoopFuture<any Channel> {
            let loop = nextLoop
            return loop.started { [self] in
                connection(on: loop, initializer, connect).map { $0.0 }
            }
        }

        /// Makes, initializes and connects a channel, and awaits the result of the initializer.
        ///
        /// - Parameters:
        ///   - initialize: Initializes the channel, and returns its result.
        ///   - connect: Connects the registered channel.
        /// - Returns: The result.
        /// - Throws: The error for which the channel could not be connected.
        func made<Output: Sendable>(
            _ initialize: @escaping ChannelInitializer<Output>,
            _ connect: @escaping @Sendable (StreamChannel) -> EventLoopFuture<Void>
        ) async throws -> Output {
            let loop = nextLoop
            return try await loop.awaited { [self] in
                connection(on: loop, initialize, connect).map { $0.1 }
            }
        }

        private var nextLoop: RunLoopEventLoop { group.nextLoop() }

        private func connection<Output: Sendable>(
            on loop: RunLoopEventLoop,
            _ initialize: @escaping ChannelInitializer<Output>,
            _ connect: @escaping @Sendable (StreamChannel) -> EventLoopFuture<Void>
        ) -> EventLoopFuture<(any Channel, Output)> {
            let channel = StreamChannel(loop, nil, parent: nil)
            channel.settings.connectTimeout = timeout
            let initialize: ChannelInitializer<Output> = { [handlers] _ in
                initialize(channel).hop(to: loop).flatMapThrowing { output in
                    if let handlers {
                        try channel.pipeline.syncOperations.addHandlers(handlers(), position: .first)
                    }
                    return output
                }
            }
            return channel.begun(options, initialize) { output in
                connect(channel).map { (channel as any Channel, output) }
            }
        }
    }

    /// A socket on its way to the event loop that will own it.
    ///
    /// > Thread safety: any thread.
    final class SocketBox: Sendable {
        private let contents: Mutex<OwnedDescriptor?>

        init(_ socket: consuming OwnedDescriptor) { contents = Mutex(socket) }

        func take() -> OwnedDescriptor? { contents.withLock { $0.take() } }
    }
#endif
