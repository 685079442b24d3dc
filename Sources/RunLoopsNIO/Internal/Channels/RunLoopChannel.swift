#if NIO
    internal import NIOCore
    internal import Synchronization

    /// What the kinds of channels share.
    protocol RunLoopChannel: Channel, ChannelCore, LoopChannel, EventLoopTurn {
        var loop: RunLoopEventLoop { get }
        var facts: ChannelFacts { get }
        /// The pipeline; nil only inside `init`.
        var ownPipeline: ChannelPipeline? { get }
        var phase: ChannelPhase { get }

        /// Records that the channel is registered.
        func didRegister()

        func setNow<Option: ChannelOption>(_ option: Option, _ value: Option.Value) throws
        /// The value of an option of an open channel.
        func value<Option: ChannelOption>(of option: Option) throws -> Any
    }

    /// Where a channel is in its life, as far as the event loop and the handlers know.
    enum ChannelPhase {
        /// The channel is being made.
        case fresh
        case registered
        /// The handlers know that the channel is active, or that is about to happen.
        case active
        case closed
    }

    extension RunLoopChannel {
        var isOpen: Bool { phase != .closed }

        var pipeline: ChannelPipeline {
            guard let ownPipeline else { preconditionFailure("a channel has a pipeline") }
            return ownPipeline
        }

        var eventLoop: any EventLoop { loop }
        var closeFuture: EventLoopFuture<Void> { facts.closePromise.futureResult }
        var localAddress: SocketAddress? { facts.knownAddresses.local }
        var remoteAddress: SocketAddress? { facts.knownAddresses.remote }
        var isWritable: Bool { facts.isWritable.load(ordering: .relaxed) }
        var isActive: Bool { facts.isActive.load(ordering: .relaxed) }
        var _channelCore: any ChannelCore { self }

        func setOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> EventLoopFuture<Void>
        {
            if loop.inEventLoop { return loop.makeCompletedFuture { try setNow(option, value) } }
            return loop.submit { try self.setNow(option, value) }
        }

        func getOption<Option: ChannelOption>(_ option: Option) -> EventLoopFuture<Option.Value> {
            if loop.inEventLoop { return loop.makeCompletedFuture { try getNow(option) } }
            return loop.submit { try self.getNow(option) }
        }

        func getNow<Option: ChannelOption>(_ option: Option) throws -> Option.Value {
            guard isOpen else { throw ChannelError.ioOnClosedChannel }
            guard let value = try value(of: option) as? Option.Value else {
                throw ChannelError.operationUnsupported
            }
            return value
        }

        var syncOptions: (any NIOSynchronousChannelOptions)? { SynchronousOptions(channel: self) }

        func localAddress0() throws -> SocketAddress {
            guard let address = localAddress else { throw ChannelError.unknownLocalAddress }
            return address
        }

        func remoteAddress0() throws -> SocketAddress {
            guard let address = remoteAddress else { throw ChannelError.operationUnsupported }
            return address
        }

        func triggerUserOutboundEvent0(_ event: Any, promise: EventLoopPromise<Void>?) {
            promise?.fail(ChannelError.operationUnsupported)
        }

        func registerAlreadyConfigured0(promise: EventLoopPromise<Void>?) {
            promise?.fail(ChannelError.operationUnsupported)
        }

        func errorCaught0(error: any Error) {}

        func closeGently() { close(promise: nil) }

        func closeNow(_ error: any Error) { close0(error: error, mode: .all, promise: nil) }

        /// True if the channel is in a phase; otherwise fails the promise.
        func isIn(_ needed: ChannelPhase, _ promise: EventLoopPromise<Void>?) -> Bool {
            if phase == needed { return true }
            promise.refuse(isOpen ? ChannelError.inappropriateOperationForState : .ioOnClosedChannel)
            return false
        }

        func register0(promise: EventLoopPromise<Void>?) {
            guard isIn(.fresh, promise) else { return }
            do throws(EventLoopError) { try loop.core.register(self) } catch {
                pipeline.syncOperations.fireErrorCaught(error)
                close0(error: error, mode: .all, promise: nil)
                return promise.refuse(error)
            }
            didRegister()
            promise?.succeed(())
            pipeline.syncOperations.fireChannelRegistered()
        }

        /// Tells the handlers that the channel is closed, and forgets the channel.
        ///
        /// - Parameter old: The phase in which the channel was closed.
        func tellClosed(in old: ChannelPhase) {
            switch old {
            case .active:
                pipeline.syncOperations.fireChannelInactive()
                pipeline.syncOperations.fireChannelUnregistered()
            case .registered: pipeline.syncOperations.fireChannelUnregistered()
            case .fresh, .closed: break
            }
            finishClosing()
            loop.core.deregister(self)
        }

        /// Removes the handlers, and completes what waits for the close.
        ///
        /// This runs later than the close itself, because a handler that is traversing the pipeline can have closed the channel.
        private func finishClosing() {
            loop.execute { [self] in
                removeHandlers(pipeline: pipeline)
                facts.closePromise.succeed(())
                facts.knownAddresses = ChannelFacts.Addresses()
            }
        }
    }

    /// The options of a channel, for code on its thread.
    struct SynchronousOptions: NIOSynchronousChannelOptions {
        let channel: any RunLoopChannel

        func setOption<Option: ChannelOption>(_ option: Option, value: Option.Value) throws {
            try channel.setNow(option, value)
        }

        func getOption<Option: ChannelOption>(_ option: Option) throws -> Option.Value {
            try channel.getNow(option)
        }
    }
#endif
