#if HTTPServers
    internal import Dispatch
    internal import NIOCore

    /// A channel that carries no bytes, so that a pipeline of decoders can exist.
    ///
    /// `@unchecked Sendable`: one thread at a time uses it. A pipeline and its channel hold each other until ``end()``.
    final class DecodingChannel: Channel, ChannelCore, @unchecked Sendable {
        let allocator = ByteBufferAllocator()
        private let loop = DecodingEventLoop()
        /// The pipeline; nil only inside `init`.
        private var ownPipeline: ChannelPipeline?

        init() { ownPipeline = ChannelPipeline(channel: self) }

        /// Removes the handlers, and lets go of the pipeline.
        func end() {
            removeHandlers(pipeline: pipeline)
            ownPipeline = nil
        }

        var pipeline: ChannelPipeline {
            guard let ownPipeline else { preconditionFailure("a channel has a pipeline until it ends") }
            return ownPipeline
        }

        var eventLoop: any EventLoop { loop }
        var closeFuture: EventLoopFuture<Void> { loop.makeSucceededVoidFuture() }
        var localAddress: SocketAddress? { nil }
        var remoteAddress: SocketAddress? { nil }
        var parent: (any Channel)? { nil }
        var isWritable: Bool { false }
        var isActive: Bool { true }
        var _channelCore: any ChannelCore { self }

        func setOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> EventLoopFuture<Void>
        {
            loop.makeFailedFuture(ChannelError.operationUnsupported)
        }

        func getOption<Option: ChannelOption>(_ option: Option) -> EventLoopFuture<Option.Value> {
            loop.makeFailedFuture(ChannelError.operationUnsupported)
        }

        func localAddress0() throws -> SocketAddress { throw ChannelError.operationUnsupported }
        func remoteAddress0() throws -> SocketAddress { throw ChannelError.operationUnsupported }
        func register0(promise: EventLoopPromise<Void>?) { refuse(promise) }
        func bind0(to: SocketAddress, promise: EventLoopPromise<Void>?) { refuse(promise) }
        func connect0(to: SocketAddress, promise: EventLoopPromise<Void>?) { refuse(promise) }
        func write0(_ data: NIOAny, promise: EventLoopPromise<Void>?) { refuse(promise) }
        func flush0() {}
        func read0() {}
        func close0(error: any Error, mode: CloseMode, promise: EventLoopPromise<Void>?) { refuse(promise) }
        func triggerUserOutboundEvent0(_ event: Any, promise: EventLoopPromise<Void>?) { refuse(promise) }
        func channelRead0(_ data: NIOAny) {}
        func errorCaught0(error: any Error) {}

        private func refuse(_ promise: EventLoopPromise<Void>?) {
            promise?.fail(ChannelError.operationUnsupported)
        }
    }

    /// The event loop of a ``DecodingChannel``, on which nothing runs but what its caller calls.
    ///
    /// A decoder of NIOHTTP1 gives nothing to its event loop.
    private final class DecodingEventLoop: EventLoop {
        /// True on every thread: a decoder is used by one thread at a time, and may be destroyed by another one.
        var inEventLoop: Bool { true }

        func execute(_ task: @escaping @Sendable () -> Void) { task() }

        func scheduleTask<T>(
            deadline: NIODeadline, _ task: @escaping @Sendable () throws -> T
        ) -> Scheduled<T> {
            let promise = makePromise(of: T.self)
            promise.fail(EventLoopError.unsupportedOperation)
            return Scheduled(promise: promise) {}
        }

        func scheduleTask<T>(in delay: TimeAmount, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T>
        {
            scheduleTask(deadline: .now() + delay, task)
        }

        func submit<T>(_ task: @escaping @Sendable () throws -> T) -> EventLoopFuture<T> {
            let promise = makePromise(of: T.self)
            promise.assumeIsolated().completeWith(Result(catching: task))
            return promise.futureResult
        }

        func shutdownGracefully(
            queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void
        ) { queue.async { callback(nil) } }
    }
#endif
