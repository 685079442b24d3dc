#if NIO
    internal import DequeModule
    internal import NIOCore
    internal import RunLoops
    internal import Streams
    internal import Synchronization

    /// The channel of a `DatagramSocket` of Streams, which sends and receives.
    ///
    /// The socket's handlers only queue what they are called with, so that the handlers of the pipeline are called in the channel's
    /// turn, like those of every other channel.
    ///
    /// `@unchecked Sendable`: other threads use only the constants. The methods of `ChannelCore`, whose names end in 0, and everything
    /// else are called on the loop's thread.
    final class DatagramChannel: RunLoopChannel, @unchecked Sendable {
        let loop: RunLoopEventLoop
        let facts: ChannelFacts
        private(set) var ownPipeline: ChannelPipeline?
        private var state = State.fresh
        var settings = SocketSettings()
        var options: DatagramSocket.Options
        var allocator = ByteBufferAllocator()
        var input = DatagramInput()
        var output = DatagramOutput()
        var isQueued = false
        /// The peer of a connected socket.
        private(set) var peer: NIOCore.SocketAddress?

        private enum State {
            case fresh
            case registered
            case open(DatagramSocket)
            /// The socket has ended by itself, and the handlers are not told yet.
            case ended(any Error)
            case closed
        }

        init(_ loop: RunLoopEventLoop, _ options: DatagramSocket.Options) {
            self.loop = loop
            self.options = options
            facts = ChannelFacts(loop, isWritable: true)
            ownPipeline = ChannelPipeline(channel: self)
        }

        var parent: (any Channel)? { nil }

        var phase: ChannelPhase {
            switch state {
            case .fresh: .fresh
            case .registered: .registered
            case .open, .ended: .active
            case .closed: .closed
            }
        }

        /// The socket; nil before it is made, and once it has ended.
        var socket: DatagramSocket? { if case .open(let socket) = state { socket } else { nil } }

        // MARK: - Beginning

        func didRegister() { state = .registered }

        func bind0(to address: NIOCore.SocketAddress, promise: EventLoopPromise<Void>?) {
            guard let place = DatagramSocket.Address(address) else {
                return promise.refuse(ChannelError.operationUnsupported)
            }
            open(promise) { options throws(SystemError) in try DatagramSocket(place, options: options) }
        }

        func connect0(to address: NIOCore.SocketAddress, promise: EventLoopPromise<Void>?) {
            guard let peer = address.forStreams else {
                return promise.refuse(ChannelError.operationUnsupported)
            }
            open(promise) { options throws(SystemError) in
                try DatagramSocket(connectedTo: peer, options: options)
            }
        }

        /// Makes the socket, and begins to send and receive.
        ///
        /// - Parameters:
        ///   - promise: Completed when the channel is active, or has failed.
        ///   - make: Makes the socket.
        func open(
            _ promise: EventLoopPromise<Void>?,
            _ make: (DatagramSocket.Options) throws(SystemError) -> DatagramSocket
        ) {
            guard isIn(.registered, promise) else { return }
            do {
                let socket = try make(options)
                if let descriptor = socket.optionsDescriptor { try settings.apply(to: descriptor) }
                attach(socket)
                do {
                    for mode in loop.core.modes { try loop.core.runLoop.add(socket, forMode: mode) }
                } catch {
                    socket.close()
                    throw error
                }
                peer = socket.peerAddress.flatMap { NIOCore.SocketAddress($0) }
                facts.knownAddresses = .init(
                    local: NIOCore.SocketAddress(socket.localAddress), remote: peer)
                state = .open(socket)
            } catch { return promise.refuse(error) }
            facts.isActive.store(true, ordering: .relaxed)
            promise?.succeed(())
            if !isActive { return }
            pipeline.syncOperations.fireChannelActive()
            sendFlushed()
            readIfWanted()
        }

        /// Sets the handlers of the socket, which does not receive yet.
        private func attach(_ socket: DatagramSocket) {
            socket.isReadingPaused = true
            // Safe: the channel closes the socket before it is destroyed, and after that only the handler of the end is called.
            socket.onReceive { [unowned self] _, bytes, sender in arrived(bytes, from: sender) }
            socket.onUndelivered { [unowned self] _, error, _ in
                input.note(IOError(error))
                loop.core.enqueue(self)
            }
            socket.onRoom { [unowned self] _ in loop.core.enqueue(self) }
            socket.onDeparture { [unowned self] departure in
                output.departures.append(departure)
                // The channel's own flush completes them by itself.
                if !output.isFlushing { loop.core.enqueue(self) }
            }
            socket.onEnd { [weak self] _, reason in self?.socketHasEnded(reason) }
        }

        private func socketHasEnded(_ reason: DatagramSocket.EndReason) {
            guard case .open = state else { return }
            state = .ended(reason.forChannel)
            loop.core.enqueue(self)
        }

        // MARK: - Turns

        func takeTurn(_ budget: inout Budget) -> TurnOutcome {
            if !budget.spend() { return .refused }
            if case .ended(let error) = state {
                pipeline.syncOperations.fireErrorCaught(error)
                close0(error: error, mode: .all, promise: nil)
                return .finished
            }
            completeDepartures()
            sendFlushed()
            while isActive, let error = input.failures.popFirst() {
                pipeline.syncOperations.fireErrorCaught(error)
            }
            return deliver(&budget)
        }

        // MARK: - The end

        func close0(error: any Error, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            guard isOpen else { return promise.refuse(ChannelError.alreadyClosed) }
            guard mode == .all else { return promise.refuse(ChannelError.operationUnsupported) }
            let (oldPhase, oldSocket) = (phase, socket)
            state = .closed
            facts.isActive.store(false, ordering: .relaxed)
            // First everything is closed and consistent, then the user's code is called.
            oldSocket?.close()
            input.end()
            for promise in output.removeAll() { promise.fail(error) }
            promise?.succeed(())
            tellClosed(in: oldPhase)
        }

        /// Datagrams that no handler has taken are dropped.
        func channelRead0(_ data: NIOAny) {}
    }
#endif
