#if NIO
    internal import Synchronization
    internal import Glibc
    internal import NIOCore
    internal import RunLoops
    internal import Streams

    extension StreamChannel {
        /// Registers and activates a channel whose socket is connected.
        func registerAlreadyConfigured0(promise: EventLoopPromise<Void>?) {
            let registration = loop.makePromise(of: Void.self)
            registration.futureResult.assumeIsolated().whenFailure { [self] error in
                close(promise: nil)
                promise?.fail(error)
            }
            register0(promise: registration)
            if case .registered = state { activate(promise) }
        }

        /// Registers and activates an accepted channel, unless its user has done that.
        func activateAccepted() { if phase == .fresh { registerAlreadyConfigured0(promise: nil) } }

        func bind0(to address: NIOCore.SocketAddress, promise: EventLoopPromise<Void>?) {
            promise?.fail(ChannelError.operationUnsupported)
        }

        func connect0(to address: NIOCore.SocketAddress, promise: EventLoopPromise<Void>?) {
            switch state {
            case .registered: break
            case .closed: return promise.refuse(ChannelError.ioOnClosedChannel)
            case .connecting: return promise.refuse(ChannelError.connectPending)
            case .fresh, .accepted, .opening, .activating, .active, .leaving:
                return promise.refuse(ChannelError.inappropriateOperationForState)
            }
            // The race has connected the socket, and this is the address that has won.
            if socket != nil { return activate(promise) }
            guard let target = address.forStreams else {
                return promise.refuse(ChannelError.operationUnsupported)
            }
            connect(to: .address(target), goesThroughPipeline: false, promise)
        }

        /// Connects to an endpoint.
        ///
        /// - Parameters:
        ///   - endpoint: The endpoint.
        ///   - goesThroughPipeline: True if the handlers have not seen the address, because it is not known yet.
        ///   - promise: Completed when the channel is connected or has failed to connect.
        func connect(
            to endpoint: Endpoint, goesThroughPipeline: Bool, _ promise: EventLoopPromise<Void>?
        ) {
            let connector = Connector(to: endpoint, timeout: settings.connectTimeout)
            let attempt = Attempt(
                connector: connector, promise: promise ?? loop.makePromise(),
                goesThroughPipeline: goesThroughPipeline)
            state = .connecting(attempt)
            do throws(SystemError) {
                try connector.start(in: loop.core) { [self] in askForTurn() }
            } catch {
                close0(error: IOError(error), mode: .all, promise: nil)
            }
        }

        /// Takes over the outcome of an attempt to connect.
        func finish(_ attempt: Attempt, _ outcome: Result<ChannelSocket, any Error>) {
            switch outcome {
            case .failure(let error): close0(error: error, mode: .all, promise: nil)
            case .success(let made):
                socket = made
                do throws(IOError) { try settings.apply(to: made.descriptor) } catch {
                    return close0(error: error, mode: .all, promise: nil)
                }
                facts.knownAddresses = .init(local: made.localAddress, remote: made.peerAddress)
                state = .registered
                guard attempt.goesThroughPipeline, let address = made.peerAddress else {
                    return activate(attempt.promise)
                }
                pipeline.syncOperations.connect(to: address, promise: attempt.promise)
            }
        }

        // MARK: - For bootstraps

        /// Connects to a host.
        func connected(_ host: String, _ port: Int) -> EventLoopFuture<Void> {
            guard let port = UInt16(exactly: port) else {
                return loop.makeFailedFuture(IOError(errnoCode: EINVAL, reason: "connect: port \(port)"))
            }
            let promise = loop.makePromise(of: Void.self)
            connect(to: .tcp(host: host, port: port), goesThroughPipeline: true, promise)
            return promise.futureResult
        }

        /// Connects to a Unix socket.
        func connected(toPath path: String) -> EventLoopFuture<Void> {
            do { return connect(to: try NIOCore.SocketAddress(unixDomainSocketPath: path)) } catch {
                return loop.makeFailedFuture(error)
            }
        }

        /// Takes over a connected socket.
        func adopted(_ box: SocketBox) -> EventLoopFuture<Void> {
            guard let taken = box.take() else { return loop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
            do throws(SystemError) { try taken.setNonBlocking() } catch {
                return loop.makeFailedFuture(IOError(error))
            }
            let made = ChannelSocket(taken)
            guard let address = made.peerAddress else {
                made.close(isComplete: false)
                return loop.makeFailedFuture(IOError(errnoCode: ENOTCONN, reason: "getpeername"))
            }
            socket = made
            do throws(IOError) { try settings.apply(to: made.descriptor) } catch {
                return loop.makeFailedFuture(error)
            }
            facts.knownAddresses = .init(local: made.localAddress, remote: address)
            let promise = loop.makePromise(of: Void.self)
            activate(promise)
            return promise.futureResult
        }

        /// Begins to send and receive.
        private func activate(_ promise: EventLoopPromise<Void>?) {
            guard let socket else { return promise.refuse(ChannelError.inappropriateOperationForState) }
            do throws(SystemError) {
                // Safe: the channel closes the socket, and with it the source that holds this closure, before it is destroyed.
                try socket.watch(in: loop.core) { [unowned self] readiness in isReported(readiness) }
            } catch {
                promise?.fail(IOError(error))
                return close0(error: IOError(error), mode: .all, promise: nil)
            }
            state = .activating
            facts.isActive.store(true, ordering: .relaxed)
            promise?.succeed(())
            guard case .activating = state else { return }
            state = .active
            pipeline.syncOperations.fireChannelActive()
            if !isOpen { return }
            sendFlushed()
            readIfWanted()
        }
    }
#endif
