#if NIO
    internal import NIOCore
    internal import RunLoops
    internal import Synchronization

    /// What any thread may ask a channel.
    ///
    /// > Thread safety: any thread.
    final class ChannelFacts: Sendable {
        let isActive = Atomic(false)
        let isWritable: Atomic<Bool>
        let closePromise: EventLoopPromise<Void>
        private let addresses = Guarded(Addresses())

        /// The addresses of both ends.
        struct Addresses {
            var local: SocketAddress?
            var remote: SocketAddress?
        }

        init(_ loop: RunLoopEventLoop, isWritable: Bool) {
            closePromise = loop.makePromise()
            self.isWritable = Atomic(isWritable)
        }

        var knownAddresses: Addresses {
            get { addresses.withLock { $0 } }
            set { addresses.withLock { $0 = newValue } }
        }
    }
#endif
