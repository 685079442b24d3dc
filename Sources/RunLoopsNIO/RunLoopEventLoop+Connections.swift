#if NIO
    public import NIOCore
    internal import RunLoops
    public import Streams

    extension RunLoopEventLoop {
        /// Makes a channel over a connection of Streams, with TLS if the connection has it.
        ///
        /// ```swift
        /// try loop.add(listener, forMode: .default) { accepted in
        ///     let connection = Connection(accepted, tls: context)
        ///     eventLoop.makeChannel(over: connection) { channel in
        ///         channel.eventLoop.makeCompletedFuture {
        ///             try channel.pipeline.syncOperations.configureHTTPServerPipeline()
        ///         }
        ///     }.whenFailure { report($0) }
        /// }
        /// ```
        ///
        /// The channel replaces the handlers of the connection, and closes the connection when it is closed itself. The connection is
        /// served in the modes of the event loop. Its time-outs and its place in the limits of its listener stay. If a time-out ends
        /// the connection, the handlers of the channel get a `ConnectionEndedError`, and the channel closes. Until the channel is closed
        /// or ``takeConnection(of:removing:unread:_:)`` gives the connection back, use only the connection's facts, such as its
        /// addresses, and the members that end it.
        ///
        /// - Parameters:
        ///   - connection: The connection: accepted, connected, or being made.
        ///   - initializer: Called when the connection is made, with TLS after the hand-shake, and before the channel is active. So it can
        ///     choose handlers by what the hand-shake has chosen.
        /// - Returns: The active channel; or the error for which the connection could not be made, or the error of the initializer.
        /// - Precondition: Called on the event loop, whose run loop the connection belongs to, if it belongs to one.
        ///
        /// > Thread safety: the event loop's thread only.
        @discardableResult
        public func makeChannel(
            over connection: Connection,
            initializer: @escaping (any Channel) -> EventLoopFuture<Void>
        ) -> EventLoopFuture<any Channel> {
            runLoop.requireOwnThread(
                "RunLoopEventLoop.makeChannel",
                "perform a block on the loop of the connection and call it there")
            let channel = StreamChannel(self, over: ChannelConnection(connection))
            return channel.opened().assumeIsolated().flatMap {
                initializer(channel)
            }.flatMap {
                let promise = self.makePromise(of: Void.self)
                channel.registerAlreadyConfigured0(promise: promise)
                return promise.futureResult
            }.map {
                channel as any Channel
            }.flatMapErrorThrowing { error in
                channel.close0(error: error, mode: .all, promise: nil)
                throw error
            }.nonisolated()
        }

        /// Takes the connection back out of a channel, and ends the channel without closing the connection.
        ///
        /// From the call on, the channel reads nothing more. It first removes the handlers that you name. A decoder then passes on the
        /// bytes that it has not decoded, and bytes that arrive at the end of the pipeline are put back. When all flushed writes are
        /// sent, the channel becomes inactive, and the function gets the connection. The connection has no handlers, and stays in the
        /// modes of the event loop. Its next handler first gets the bytes that were put back.
        ///
        /// - Parameters:
        ///   - channel: A channel that ``makeChannel(over:initializer:)`` of this event loop has made.
        ///   - handlers: The handlers to remove first, in this order: a decoder, and all handlers behind it that cannot take its undecoded
        ///     bytes, because they expect what it has decoded.
        ///   - unread: Bytes that your handlers were given and have not consumed; they are put back before all others.
        ///   - body: Called once with the connection, or with an error: `ChannelError.inappropriateOperationForState` if the channel is
        ///     not active, or is not over a connection, or the error for which the channel closed before its writes were sent.
        ///
        /// > Thread safety: the event loop's thread only.
        public func takeConnection(
            of channel: any Channel, removing handlers: [any RemovableChannelHandler] = [],
            unread: ByteBuffer = ByteBuffer(), _ body: @escaping (Result<Connection, any Error>) -> Void
        ) {
            runLoop.requireOwnThread("RunLoopEventLoop.takeConnection", "call it on the event loop")
            guard let channel = channel as? StreamChannel, channel.loop === self else {
                return body(.failure(ChannelError.inappropriateOperationForState))
            }
            channel.leave(StreamChannel.Departure(unread: unread, body), removing: handlers)
        }
    }
#endif
