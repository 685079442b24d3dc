#if NIO
    internal import Synchronization
    internal import DequeModule
    internal import NIOCore
    internal import RunLoops
    internal import Streams

    /// The channel of a listening socket, which reads channels of accepted connections.
    ///
    /// A `Listener` of Streams accepts the connections, with its limits. Its handler only queues them, so that the handlers of the
    /// pipeline are called in the channel's turn, like those of every other channel.
    ///
    /// `@unchecked Sendable`: other threads use only the constants. The methods of `ChannelCore`, whose names end in 0, and everything
    /// else are called on the loop's thread.
    final class ListenerChannel: RunLoopChannel, @unchecked Sendable {
        let loop: RunLoopEventLoop
        let facts: ChannelFacts
        private let children: RunLoopEventLoopGroup
        /// Makes the connections that carry the channels of accepted sockets; nil if the channels have the sockets themselves.
        private let makeConnection: (@Sendable (consuming AcceptedSocket) -> Connection)?
        private(set) var ownPipeline: ChannelPipeline?
        private var state = State.fresh
        var settings = SocketSettings()
        var options: Listener.Options
        var allocator = ByteBufferAllocator()
        var input = AcceptingSide()
        /// Accepted connections, and failures to accept, that the handlers have not seen.
        private var arrivals = Deque<Arrival>()
        var isQueued = false

        private enum State {
            case fresh
            case registered
            /// The listener is in no mode, so connections wait in the backlog.
            case paused(Listener)
            /// The listener is in its modes.
            case accepting(Listener)
            case closed
        }

        private enum Arrival {
            case connection(StreamChannel)
            case failure(IOError)
        }

        /// What the channel wants of its listener.
        struct AcceptingSide {
            var isAutomatic = true
            var isWanted = false
            var mostConnections: UInt = 4
        }

        init(
            _ loop: RunLoopEventLoop, children: RunLoopEventLoopGroup, options: Listener.Options,
            _ makeConnection: (@Sendable (consuming AcceptedSocket) -> Connection)?
        ) {
            self.loop = loop
            self.children = children
            self.makeConnection = makeConnection
            self.options = options
            facts = ChannelFacts(loop, isWritable: false)
            ownPipeline = ChannelPipeline(channel: self)
        }

        var parent: (any Channel)? { nil }

        var listener: Listener? {
            switch state {
            case .paused(let listener), .accepting(let listener): listener
            case .fresh, .registered, .closed: nil
            }
        }

        var phase: ChannelPhase {
            switch state {
            case .fresh: .fresh
            case .registered: .registered
            case .paused, .accepting: .active
            case .closed: .closed
            }
        }

        // MARK: - Beginning

        func didRegister() { state = .registered }

        func bind0(to address: NIOCore.SocketAddress, promise: EventLoopPromise<Void>?) {
            guard let place = Listener.Address(address) else {
                return promise.refuse(ChannelError.operationUnsupported)
            }
            listen(promise) { options throws(SystemError) in try Listener(place, options: options) }
        }

        /// Begins to accept connections.
        ///
        /// - Parameters:
        ///   - promise: Completed when the channel accepts connections, or has failed.
        ///   - open: Makes the listener.
        func listen(
            _ promise: EventLoopPromise<Void>?, _ open: (Listener.Options) throws(SystemError) -> Listener
        ) {
            guard isIn(.registered, promise) else { return }
            do {
                let listener = try open(options)
                if let descriptor = listener.descriptor { try settings.apply(to: descriptor) }
                // Safe: the channel invalidates the listener, and with it this closure, before it is destroyed.
                listener.onPause { [unowned self] listener, error in isPaused(listener, error) }
                facts.knownAddresses = .init(local: NIOCore.SocketAddress(listener.localAddress))
                state = .paused(listener)
            } catch { return promise.refuse(error) }
            facts.isActive.store(true, ordering: .relaxed)
            promise?.succeed(())
            if !isActive { return }
            pipeline.syncOperations.fireChannelActive()
            readIfWanted()
        }

        // MARK: - Accepting

        func read0() {
            guard isOpen else { return }
            input.isWanted = true
            accept()
            if !arrivals.isEmpty { loop.core.enqueue(self) }
        }

        private func readIfWanted() {
            if input.isAutomatic && !input.isWanted && isActive { pipeline.syncOperations.read() }
        }

        /// Adds the listener to its modes, or removes it, as the handlers want.
        func accept() {
            guard let listener else { return }
            // The listener can accept many connections before the handlers see the first one.
            let room = input.isAutomatic ? 64 : Int(input.mostConnections)
            let isWanted = input.isWanted && arrivals.count < room
            let core = loop.core
            switch state {
            case .accepting where !isWanted:
                state = .paused(listener)
                for mode in core.modes { core.runLoop.remove(listener, forMode: mode) }
            case .paused where isWanted:
                state = .accepting(listener)
                do throws(SystemError) {
                    for mode in core.modes {
                        try core.runLoop.add(listener, forMode: mode) { [unowned self] accepted in
                            arrived(.connection(child(of: accepted)))
                        }
                    }
                } catch {
                    let error = IOError(error)
                    pipeline.syncOperations.fireErrorCaught(error)
                    close0(error: error, mode: .all, promise: nil)
                }
            case .fresh, .registered, .paused, .accepting, .closed: break
            }
        }

        /// Makes the channel of an accepted socket.
        private func child(of accepted: consuming AcceptedSocket) -> StreamChannel {
            guard let makeConnection else {
                return StreamChannel(children.nextLoop(), ChannelSocket(accepted), parent: self)
            }
            return StreamChannel(
                children.nextLoop(),
                of: StreamChannel.Arrival(socket: accepted.boxed(), makeConnection: makeConnection),
                parent: self)
        }

        private func arrived(_ arrival: Arrival) {
            arrivals.append(arrival)
            accept()
            loop.core.enqueue(self)
        }

        private func isPaused(_ listener: Listener, _ error: SystemError) {
            RunLoopDiagnostics.report("\(listener) pauses: \(error)")
            arrived(.failure(IOError(error)))
        }

        func takeTurn(_ budget: inout Budget) -> TurnOutcome {
            guard isActive, input.isWanted, !arrivals.isEmpty else { return .finished }
            var count: UInt = 0
            var hasRead = false
            while count < input.mostConnections, isActive, !arrivals.isEmpty {
                if !budget.spend() {
                    if count == 0 { return .refused }
                    break
                }
                count += 1
                switch arrivals.removeFirst() {
                case .connection(let child):
                    input.isWanted = false
                    hasRead = true
                    pipeline.syncOperations.fireChannelRead(NIOAny(child as any Channel))
                case .failure(let error): pipeline.syncOperations.fireErrorCaught(error)
                }
            }
            if hasRead && isActive { pipeline.syncOperations.fireChannelReadComplete() }
            readIfWanted()
            accept()
            return isActive && input.isWanted && !arrivals.isEmpty ? .unfinished : .finished
        }

        /// Activates an accepted channel that has passed the pipeline.
        func channelRead0(_ data: NIOAny) {
            let child: (any Channel)? = tryUnwrapData(data)
            guard let child = child as? StreamChannel else { return }
            child.loop.execute { child.activateAccepted() }
        }

        // MARK: - The end

        func close0(error: any Error, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            guard isOpen else { return promise.refuse(ChannelError.alreadyClosed) }
            guard mode == .all else { return promise.refuse(ChannelError.operationUnsupported) }
            let (oldPhase, oldListener) = (phase, listener)
            state = .closed
            facts.isActive.store(false, ordering: .relaxed)
            oldListener?.invalidate()
            for case .connection(let child) in exchange(&arrivals, with: []) { child.discard() }
            promise?.succeed(())
            tellClosed(in: oldPhase)
        }
    }
#endif
