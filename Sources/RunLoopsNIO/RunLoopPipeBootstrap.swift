#if NIO
    public import NIOCore
    public import RunLoops
    public import Streams

    /// Makes channels over pipes, terminals and other descriptors of streams.
    ///
    /// ```swift
    /// let channel = try await RunLoopPipeBootstrap(group: eventLoop)
    ///     .channelInitializer { channel in
    ///         channel.eventLoop.makeCompletedFuture {
    ///             try channel.pipeline.syncOperations.addHandler(LineHandler())
    ///         }
    ///     }
    ///     .takingOwnershipOfDescriptors(input: fromChild, output: toChild).get()
    /// ```
    ///
    /// A `Connection` of Streams carries the channel, with its limits and time-outs: ``connectionOptions(_:)``. The end of the other
    /// side's output, also the one of a terminal, closes the channel, or ends its input if half-closure is allowed. Regular files
    /// are refused with `EPERM`.
    ///
    /// > Thread safety: a value.
    public struct RunLoopPipeBootstrap: ChannelBootstrap, Sendable {
        private let group: RunLoopEventLoopGroup
        private var connectionOptions = Connection.Options()
        private var initializer: ChannelInitializer<Void> = initializesNothing
        private var channelOptions = ChannelOptions.Storage()

        /// Makes a bootstrap.
        ///
        /// - Parameter group: The event loop of the channels, or a group whose event loops take turns.
        /// - Precondition: All event loops are ``RunLoopEventLoop``s.
        public init(group: any EventLoopGroup) {
            self.group = .required(group, by: "RunLoopPipeBootstrap.init")
        }

        /// Makes a bootstrap; nil if an event loop is not a ``RunLoopEventLoop``.
        ///
        /// - Parameter group: The event loop of the channels, or a group whose event loops take turns.
        public init?(validatingGroup group: any EventLoopGroup) {
            guard let group = RunLoopEventLoopGroup(of: group) else { return nil }
            self.group = group
        }

        /// Sets the limits and time-outs of the connections.
        ///
        /// - Parameter options: The limits and time-outs.
        /// - Returns: The changed bootstrap.
        public func connectionOptions(_ options: Connection.Options) -> Self {
            changed { $0.connectionOptions = options }
        }

        /// Sets the function that initializes each channel.
        ///
        /// - Parameter initializer: Called before the channel is active.
        /// - Returns: The changed bootstrap.
        public func channelInitializer(
            _ initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
        ) -> Self { changed { $0.initializer = initializer } }

        /// Sets an option of the channels.
        ///
        /// - Parameters:
        ///   - option: The option.
        ///   - value: The value.
        /// - Returns: The changed bootstrap.
        public func channelOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> Self {
            changed { $0.channelOptions.append(key: option, value: value) }
        }

        // MARK: - Descriptors

        /// Makes a channel that reads one descriptor and writes to another.
        ///
        /// - Parameters:
        ///   - input: The descriptor to read, which the channel owns from now on. It is made non-blocking.
        ///   - output: The descriptor to write to, which the channel owns from now on. It is made non-blocking.
        /// - Returns: The channel; or the error.
        public func takingOwnershipOfDescriptors(
            input: consuming OwnedDescriptor, output: consuming OwnedDescriptor
        ) -> EventLoopFuture<any Channel> { made(SocketBox(input), SocketBox(output)) }

        /// Makes a channel of one descriptor, such as one of a terminal, or one end of a pipe, which works in one direction.
        ///
        /// - Parameter descriptor: The descriptor, which the channel owns from now on. It is made non-blocking.
        /// - Returns: The channel; or the error.
        public func takingOwnershipOfDescriptor(
            inputOutput descriptor: consuming OwnedDescriptor
        ) -> EventLoopFuture<any Channel> { made(SocketBox(descriptor), nil) }

        /// Makes a channel that reads one descriptor and writes to another.
        ///
        /// - Parameters:
        ///   - input: The descriptor to read, which the channel owns from now on. It is made non-blocking.
        ///   - output: The descriptor to write to, which the channel owns from now on. It is made non-blocking.
        ///   - channelInitializer: Initializes the channel, and returns the result, such as a `NIOAsyncChannel`.
        /// - Returns: The result of the initializer.
        /// - Throws: The error for which there is no channel.
        public func takingOwnershipOfDescriptors<Output: Sendable>(
            input: consuming OwnedDescriptor, output: consuming OwnedDescriptor,
            channelInitializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
        ) async throws -> Output { try await made(SocketBox(input), SocketBox(output), channelInitializer) }

        /// Makes a channel of one descriptor, such as one of a terminal, or one end of a pipe, which works in one direction.
        ///
        /// - Parameters:
        ///   - descriptor: The descriptor, which the channel owns from now on. It is made non-blocking.
        ///   - channelInitializer: Initializes the channel, and returns the result, such as a `NIOAsyncChannel`.
        /// - Returns: The result of the initializer.
        /// - Throws: The error for which there is no channel.
        public func takingOwnershipOfDescriptor<Output: Sendable>(
            inputOutput descriptor: consuming OwnedDescriptor,
            channelInitializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
        ) async throws -> Output { try await made(SocketBox(descriptor), nil, channelInitializer) }

        private func made(_ input: SocketBox, _ output: SocketBox?) -> EventLoopFuture<any Channel> {
            let loop = group.nextLoop()
            return loop.started { [self] in
                channel(on: loop, input, output, initializer).map { $0.0 }
            }
        }

        private func made<Output: Sendable>(
            _ input: SocketBox, _ output: SocketBox?,
            _ initialize: @escaping ChannelInitializer<Output>
        ) async throws -> Output {
            let loop = group.nextLoop()
            return try await loop.awaited { [self] in
                channel(on: loop, input, output, initialize).map { $0.1 }
            }
        }

        private func channel<Output: Sendable>(
            on loop: RunLoopEventLoop, _ input: SocketBox, _ output: SocketBox?,
            _ initialize: @escaping ChannelInitializer<Output>
        ) -> EventLoopFuture<(any Channel, Output)> {
            guard let reading = input.take() else {
                return loop.makeFailedFuture(ChannelError.ioOnClosedChannel)
            }
            let connection: Connection
            do throws(SystemError) {
                if let writing = output?.take() {
                    connection = try Connection(
                        reading: reading, writing: writing, options: connectionOptions)
                } else {
                    connection = try Connection(reading, options: connectionOptions)
                }
            } catch { return loop.makeFailedFuture(IOError(error)) }
            let result = loop.makePromise(of: Output.self)
            let made = loop.makeChannel(over: connection) { [channelOptions] channel in
                let initialized = channelOptions.applyAllChannelOptions(to: channel).flatMap {
                    initialize(channel)
                }
                initialized.cascade(to: result)
                return initialized.map { _ in }
            }
            made.whenFailure { result.fail($0) }
            return made.and(result.futureResult)
        }
    }
#endif
