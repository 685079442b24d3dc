#if NIO
    public import NIOCore
    internal import RunLoops
    public import Streams

    /// Binds a listening socket as a channel, and initializes the channels of its connections.
    ///
    /// ```swift
    /// let server = try await RunLoopListenerBootstrap(group: eventLoop)
    ///     .childChannelInitializer { channel in
    ///         channel.eventLoop.makeCompletedFuture {
    ///             try channel.pipeline.syncOperations.addHandler(EchoHandler())
    ///         }
    ///     }
    ///     .bind(host: "127.0.0.1", port: 8080).get()
    /// ```
    ///
    /// A `Listener` of Streams accepts the connections. ``listenerOptions(_:)`` sets its limits. When the process is out of
    /// descriptors, the listener refuses waiting connections and pauses, and the channel's handlers get the error.
    ///
    /// > Thread safety: a value.
    public struct RunLoopListenerBootstrap: ChannelBootstrap, Sendable {
        let group: RunLoopEventLoopGroup
        let children: RunLoopEventLoopGroup
        private(set) var listenerOptions = Listener.Options()
        private(set) var makeConnection: (@Sendable (consuming AcceptedSocket) -> Connection)?
        private var initializer: ChannelInitializer<Void> = initializesNothing
        private var childInitializer: ChannelInitializer<Void> = initializesNothing
        private var channelOptions = ChannelOptions.Storage()
        var childOptions = ChannelOptions.Storage()

        /// Makes a bootstrap.
        ///
        /// - Parameters:
        ///   - group: The event loop of the listening socket, or a group whose next event loop is used.
        ///   - childGroup: The event loops of the connections, which take turns; nil for those of `group`.
        /// - Precondition: All event loops are ``RunLoopEventLoop``s.
        public init(group: any EventLoopGroup, childGroup: (any EventLoopGroup)? = nil) {
            self.group = .required(group, by: "RunLoopListenerBootstrap.init")
            children = .required(childGroup ?? group, by: "RunLoopListenerBootstrap.init")
        }

        /// Makes a bootstrap; nil if an event loop is not a ``RunLoopEventLoop``.
        ///
        /// - Parameters:
        ///   - group: The event loop of the listening socket, or a group whose next event loop is used.
        ///   - childGroup: The event loops of the connections, which take turns; nil for those of `group`.
        public init?(validatingGroup group: any EventLoopGroup, childGroup: (any EventLoopGroup)? = nil) {
            guard let loops = RunLoopEventLoopGroup(of: group),
                let children = RunLoopEventLoopGroup(of: childGroup ?? group)
            else { return nil }
            self.group = loops
            self.children = children
        }

        /// Sets the limits of the listener, and the settings of its socket.
        ///
        /// - Parameter options: The limits and settings.
        /// - Returns: The changed bootstrap.
        public func listenerOptions(_ options: Listener.Options) -> Self {
            changed { $0.listenerOptions = options }
        }

        /// Sets the function that makes a `Connection` of each accepted socket, which then carries the channel.
        ///
        /// So the product TLSStreams encrypts the channels, or a connection's time-outs end them:
        ///
        /// ```swift
        /// RunLoopListenerBootstrap(group: eventLoop)
        ///     .childConnection { accepted in Connection(accepted, tls: context) }
        /// ```
        ///
        /// The function that initializes the channel is called when the connection is made, with TLS after the hand-shake. If the
        /// connection cannot be made, the handlers of the listening channel get the error.
        ///
        /// - Parameter make: Called on the event loop of the connection.
        /// - Returns: The changed bootstrap.
        public func childConnection(
            _ make: @escaping @Sendable (consuming AcceptedSocket) -> Connection
        ) -> Self { changed { $0.makeConnection = make } }

        /// Sets the function that initializes the channel of the listening socket.
        ///
        /// - Parameter initializer: Called before the socket is bound.
        /// - Returns: The changed bootstrap.
        public func serverChannelInitializer(
            _ initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
        ) -> Self { changed { $0.initializer = initializer } }

        /// Sets the function that initializes the channel of each connection.
        ///
        /// - Parameter initializer: Called on the event loop of the connection, before its channel is active.
        /// - Returns: The changed bootstrap.
        public func childChannelInitializer(
            _ initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
        ) -> Self { changed { $0.childInitializer = initializer } }

        /// Sets an option of the channel of the listening socket.
        ///
        /// - Parameters:
        ///   - option: The option.
        ///   - value: The value.
        /// - Returns: The changed bootstrap.
        public func serverChannelOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> Self
        {
            changed { $0.channelOptions.append(key: option, value: value) }
        }

        /// Sets an option of the channels of the connections.
        ///
        /// - Parameters:
        ///   - option: The option.
        ///   - value: The value.
        /// - Returns: The changed bootstrap.
        public func childChannelOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> Self {
            changed { $0.childOptions.append(key: option, value: value) }
        }

        // MARK: - Binding

        /// Binds a TCP port.
        ///
        /// - Parameters:
        ///   - host: The numeric address of an interface, such as `127.0.0.1` or `::`. A name is not resolved, because that blocks.
        ///   - port: The port; for 0 the kernel chooses a free one.
        /// - Returns: The channel, which accepts connections; or the error.
        public func bind(host: String, port: Int) -> EventLoopFuture<any Channel> {
            bind { try .init(ipAddress: host, port: port) }
        }

        /// Binds a Unix socket.
        ///
        /// If the file of an earlier socket exists at the path and no process listens on that socket, the file is replaced. The file is
        /// removed when the channel closes.
        ///
        /// - Parameter path: The path.
        /// - Returns: The channel, which accepts connections; or the error.
        public func bind(unixDomainSocketPath path: String) -> EventLoopFuture<any Channel> {
            bind { try .init(unixDomainSocketPath: path) }
        }

        /// Binds an address.
        ///
        /// - Parameter address: The address.
        /// - Returns: The channel, which accepts connections; or the error.
        public func bind(to address: NIOCore.SocketAddress) -> EventLoopFuture<any Channel> {
            bind { address }
        }

        private func bind(
            _ address: @escaping @Sendable () throws -> NIOCore.SocketAddress
        ) -> EventLoopFuture<any Channel> {
            let loop = group.nextLoop()
            return loop.started { [self] in
                let handler = AcceptHandler(childOptions, childInitializer) { child, _ in child }
                return bound(on: loop, handler) { channel in
                    channel.bind(to: try address()).map { channel }
                }
            }
        }

        /// Makes, initializes and binds the channel of a listening socket.
        func bound<Output: Sendable>(
            on loop: RunLoopEventLoop, _ handler: some ChannelHandler & Sendable,
            _ bind: @escaping @Sendable (any Channel) throws -> EventLoopFuture<Output>
        ) -> EventLoopFuture<Output> {
            let channel = ListenerChannel(loop, children: children, options: listenerOptions, makeConnection)
            let initialize: ChannelInitializer<Void> = { [initializer] _ in
                initializer(channel).hop(to: loop).flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(handler, name: "AcceptHandler")
                }
            }
            return channel.begun(channelOptions, initialize) { try bind(channel) }
        }
    }
#endif
