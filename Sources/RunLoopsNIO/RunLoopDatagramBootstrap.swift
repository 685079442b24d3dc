#if NIO
    internal import Glibc
    public import NIOCore
    public import RunLoops
    public import Streams

    /// Opens channels that send and receive datagrams, over UDP or as Unix sockets.
    ///
    /// ```swift
    /// let channel = try await RunLoopDatagramBootstrap(group: eventLoop)
    ///     .channelInitializer { channel in
    ///         channel.eventLoop.makeCompletedFuture {
    ///             try channel.pipeline.syncOperations.addHandler(StatsHandler())
    ///         }
    ///     }
    ///     .bind(host: "127.0.0.1", port: 8125).get()
    /// ```
    ///
    /// A `DatagramSocket` of Streams carries the channel, with its limits: ``socketOptions(_:)``. The handlers receive and write
    /// `AddressedEnvelope<ByteBuffer>`; over a connected channel, they may also write a `ByteBuffer`. The promise of a write is kept when
    /// the kernel has accepted the datagram, and fails if the kernel refuses it; the channel stays open. An error that the network
    /// reports later, such as `ECONNREFUSED`, is passed to `errorCaught` of the handlers. The channels are `MulticastChannel`s.
    ///
    /// > Thread safety: a value.
    public struct RunLoopDatagramBootstrap: ChannelBootstrap, Sendable {
        private let group: RunLoopEventLoopGroup
        private var socketOptions = DatagramSocket.Options()
        private var initializer: ChannelInitializer<Void> = initializesNothing
        private var channelOptions = ChannelOptions.Storage()

        /// Makes a bootstrap.
        ///
        /// - Parameter group: The event loop of the channels, or a group whose event loops take turns.
        /// - Precondition: All event loops are ``RunLoopEventLoop``s.
        public init(group: any EventLoopGroup) {
            self.group = .required(group, by: "RunLoopDatagramBootstrap.init")
        }

        /// Makes a bootstrap; nil if an event loop is not a ``RunLoopEventLoop``.
        ///
        /// - Parameter group: The event loop of the channels, or a group whose event loops take turns.
        public init?(validatingGroup group: any EventLoopGroup) {
            guard let group = RunLoopEventLoopGroup(of: group) else { return nil }
            self.group = group
        }

        /// Sets the limits of the sockets, and their settings.
        ///
        /// - Parameter options: The limits and settings.
        /// - Returns: The changed bootstrap.
        public func socketOptions(_ options: DatagramSocket.Options) -> Self {
            changed { $0.socketOptions = options }
        }

        /// Sets the function that initializes each channel.
        ///
        /// - Parameter initializer: Called before the socket is opened.
        /// - Returns: The changed bootstrap.
        public func channelInitializer(
            _ initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
        ) -> Self { changed { $0.initializer = initializer } }

        /// Sets an option of the channels.
        ///
        /// Options of the socket are applied when it is open, except `SO_REUSEPORT`.
        ///
        /// - Parameters:
        ///   - option: The option.
        ///   - value: The value.
        /// - Returns: The changed bootstrap.
        public func channelOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> Self {
            changed { $0.channelOptions.append(key: option, value: value) }
        }

        // MARK: - Opening

        /// Opens a socket that receives at a port of UDP.
        ///
        /// - Parameters:
        ///   - host: The numeric address of an interface, such as `127.0.0.1` or `::`. A name is not resolved, because that blocks.
        ///   - port: The port; for 0 the kernel chooses a free one.
        /// - Returns: The channel; or the error.
        public func bind(host: String, port: Int) -> EventLoopFuture<any Channel> {
            opened { channel in try channel.bind(to: .init(ipAddress: host, port: port)) }
        }

        /// Opens a socket that receives at an address.
        ///
        /// - Parameter address: The address.
        /// - Returns: The channel; or the error.
        public func bind(to address: NIOCore.SocketAddress) -> EventLoopFuture<any Channel> {
            opened { channel in channel.bind(to: address) }
        }

        /// Opens a Unix socket that receives at a path.
        ///
        /// The file is removed when the channel closes.
        ///
        /// - Parameter path: The path.
        /// - Returns: The channel; or the error.
        public func bind(unixDomainSocketPath path: String) -> EventLoopFuture<any Channel> {
            opened { channel in try channel.bind(to: .init(unixDomainSocketPath: path)) }
        }

        /// Opens a socket that sends to one peer, and receives from this peer only.
        ///
        /// - Parameters:
        ///   - host: The numeric address of the peer. A name is not resolved, because that blocks.
        ///   - port: The port of the peer.
        /// - Returns: The channel; or the error.
        public func connect(host: String, port: Int) -> EventLoopFuture<any Channel> {
            opened { channel in try channel.connect(to: .init(ipAddress: host, port: port)) }
        }

        /// Opens a socket that sends to one peer, and receives from this peer only.
        ///
        /// - Parameter address: The address of the peer.
        /// - Returns: The channel; or the error.
        public func connect(to address: NIOCore.SocketAddress) -> EventLoopFuture<any Channel> {
            opened { channel in channel.connect(to: address) }
        }

        /// Opens a Unix socket that sends to the socket at a path.
        ///
        /// It has no name of its own, so the peer cannot answer.
        ///
        /// - Parameter path: The path of the peer.
        /// - Returns: The channel; or the error.
        public func connect(unixDomainSocketPath path: String) -> EventLoopFuture<any Channel> {
            opened { channel in try channel.connect(to: .init(unixDomainSocketPath: path)) }
        }

        /// Makes a channel of a socket for datagrams that is bound or connected already.
        ///
        /// - Parameter socket: The socket, which the channel owns from now on. It is made non-blocking.
        /// - Returns: The channel; or the error.
        public func withBoundSocket(_ socket: consuming OwnedDescriptor) -> EventLoopFuture<any Channel> {
            let box = SocketBox(socket)
            return opened { channel in channel.adopted(box) }
        }

        private func opened(
            _ open: @escaping @Sendable (DatagramChannel) throws -> EventLoopFuture<Void>
        ) -> EventLoopFuture<any Channel> {
            let loop = group.nextLoop()
            return loop.started { [self] in
                channel(on: loop, initializer, open).map { $0.0 }
            }
        }

        /// Makes, initializes and opens a channel, and awaits the result of the initializer.
        ///
        /// - Parameters:
        ///   - initialize: Initializes the channel, and returns its result.
        ///   - open: Opens the socket of the registered channel.
        /// - Returns: The result.
        /// - Throws: The error for which the channel could not be opened.
        func opened<Output: Sendable>(
            _ initialize: @escaping ChannelInitializer<Output>,
            _ open: @escaping @Sendable (DatagramChannel) throws -> EventLoopFuture<Void>
        ) async throws -> Output {
            let loop = group.nextLoop()
            return try await loop.awaited { [self] in channel(on: loop, initialize, open).map { $0.1 } }
        }

        private func channel<Output: Sendable>(
            on loop: RunLoopEventLoop,
            _ initialize: @escaping ChannelInitializer<Output>,
            _ open: @escaping @Sendable (DatagramChannel) throws -> EventLoopFuture<Void>
        ) -> EventLoopFuture<(any Channel, Output)> {
            let channel = DatagramChannel(loop, socketOptions)
            return channel.begun(channelOptions, initialize) { output in
                try open(channel).map { (channel as any Channel, output) }
            }
        }
    }

    extension DatagramChannel {
        /// Takes over a socket that is bound or connected.
        fileprivate func adopted(_ box: SocketBox) -> EventLoopFuture<Void> {
            guard let taken = box.take() else { return loop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
            var rest: OwnedDescriptor? = consume taken
            let promise = loop.makePromise(of: Void.self)
            open(promise) { options throws(SystemError) in
                guard let socket = rest.take() else { throw SystemError(call: "open", code: EBADF) }
                return try DatagramSocket(socket, options: options)
            }
            return promise.futureResult
        }
    }
#endif
