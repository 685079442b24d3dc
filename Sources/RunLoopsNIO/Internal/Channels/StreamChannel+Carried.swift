#if NIO
    internal import NIOCore
    internal import RunLoops
    internal import Streams

    // A channel that a connection of Streams carries: how it begins, and how it gives the connection away.

    extension StreamChannel {
        /// An accepted socket, and the function that makes a connection of it.
        struct Arrival {
            let socket: AcceptedSocket.Box
            let makeConnection: @Sendable (consuming AcceptedSocket) -> Connection
        }

        /// Makes a channel of an accepted socket, whose connection is made later, on the channel's loop.
        convenience init(_ loop: RunLoopEventLoop, of arrival: Arrival, parent: any Channel) {
            self.init(loop, nil, parent: parent)
            state = .accepted(arrival)
        }

        /// Makes the connection of an accepted channel that is to have one, and waits until it is made, with TLS after the hand-shake.
        ///
        /// If that fails, all handlers of the listening channel get the error.
        func begun() -> EventLoopFuture<Void> {
            guard case .accepted(let arrival) = state, let accepted = arrival.socket.take() else {
                return loop.makeSucceededVoidFuture()
            }
            let carrier = ChannelConnection(arrival.makeConnection(accepted))
            socket = carrier
            state = .opening(Opening(carrier: carrier, promise: loop.makePromise()))
            let future = opened()
            future.whenFailure { [parent] error in parent?.pipeline.fireErrorCaught(error) }
            return future
        }

        /// The wait for a connection that is being made.
        struct Opening {
            let carrier: ChannelConnection
            /// Completed when the connection is made; nil after that.
            var promise: EventLoopPromise<Void>?
        }

        /// Makes a channel over a connection, which is possibly not made yet.
        convenience init(_ loop: RunLoopEventLoop, over carrier: ChannelConnection) {
            self.init(loop, carrier, parent: nil)
            state = .opening(Opening(carrier: carrier, promise: loop.makePromise()))
        }

        /// Begins to serve the connection, and waits until it is made.
        ///
        /// - Returns: Completed in a turn of the event loop.
        func opened() -> EventLoopFuture<Void> {
            guard case .opening(let opening) = state, let promise = opening.promise else {
                return loop.makeFailedFuture(ChannelError.inappropriateOperationForState)
            }
            do {
                try loop.core.register(self)
                // Safe: the channel closes the carrier, and with it this closure, before it is destroyed.
                try opening.carrier.watch(in: loop.core) { [unowned self] readiness in isReported(readiness) }
                askForTurn()
            } catch {
                close0(error: error.forChannel, mode: .all, promise: nil)
            }
            return promise.futureResult
        }

        /// Looks if the connection is made, or has ended.
        func goOn(_ opening: Opening) {
            if let failure = opening.carrier.failure {
                return close0(error: failure, mode: .all, promise: nil)
            }
            guard let promise = opening.promise, opening.carrier.isMade else { return }
            state = .opening(Opening(carrier: opening.carrier, promise: nil))
            facts.knownAddresses = .init(
                local: opening.carrier.localAddress, remote: opening.carrier.peerAddress)
            promise.succeed(())
        }

        // MARK: - Giving the connection away

        /// The wait for the writes that are sent before the channel gives its connection away.
        final class Departure {
            private var unread: ByteBuffer
            private let body: (Swift.Result<Connection, any Error>) -> Void
            /// True once the handlers are removed, so that no more bytes are put back.
            fileprivate var isReady = false

            init(
                unread: ByteBuffer, _ body: @escaping (Swift.Result<Connection, any Error>) -> Void
            ) {
                self.unread = unread
                self.body = body
            }

            /// Keeps bytes that no handler has taken, for the next receiver.
            func keep(_ bytes: ByteBuffer) { unread.writeImmutableBuffer(bytes) }

            func fail(_ error: any Error) { body(.failure(error)) }

            /// Passes the connection on, with the unread bytes.
            fileprivate func succeed(_ connection: Connection) { body(.success(connection)) }

            fileprivate func release(_ carrier: ChannelConnection) -> Connection? {
                carrier.release(unread: unread)
            }
        }

        /// Begins to give the connection away.
        func leave(_ departure: Departure, removing handlers: [any RemovableChannelHandler]) {
            guard case .active = state, socket is ChannelConnection else {
                return departure.fail(
                    isOpen ? ChannelError.inappropriateOperationForState : ChannelError.ioOnClosedChannel)
            }
            state = .leaving(departure)
            input.isWanted = false
            // A decoder passes on its rest when it is removed, and the rest arrives at the end of the pipeline.
            let removals = handlers.map { pipeline.syncOperations.removeHandler($0) }
            EventLoopFuture.andAllComplete(removals, on: loop).assumeIsolated().whenComplete { [self] _ in
                departure.isReady = true
                if isOpen { askForTurn() }
            }
        }

        /// Gives the connection away when all flushed writes are sent.
        func goOn(_ departure: Departure) {
            guard isOpen, departure.isReady else { return }
            if case .failed(let error) = output.end { return close0(error: error, mode: .all, promise: nil) }
            if let error = (socket as? ChannelConnection)?.failure {
                return close0(error: error, mode: .all, promise: nil)
            }
            if output.hasFlushed { return }
            guard let carrier = socket as? ChannelConnection, let connection = departure.release(carrier)
            else {
                return close0(error: ChannelError.ioOnClosedChannel, mode: .all, promise: nil)
            }
            socket = nil
            state = .active
            close0(error: ChannelError.ioOnClosedChannel, mode: .all, promise: nil)
            departure.succeed(connection)
        }
    }
#endif
