#if NIO
    internal import NIOCore
    internal import RunLoops
    internal import Streams

    /// A channel of a stream of bytes, over TCP or a Unix socket.
    ///
    /// `@unchecked Sendable`: other threads use only the constants. The methods of `ChannelCore`, whose names end in 0, and everything
    /// else are called on the loop's thread.
    final class StreamChannel: RunLoopChannel, @unchecked Sendable {
        let loop: RunLoopEventLoop
        let parent: (any Channel)?
        let facts: ChannelFacts
        private(set) var ownPipeline: ChannelPipeline?
        var state = State.fresh
        /// The connected socket, or the connection; nil before the channel is connected, and once it is closed.
        var socket: (any ChannelTransport)?
        var input = InputSide()
        var output = OutputSide()
        var settings = SocketSettings()
        var allocator = ByteBufferAllocator()
        var isQueued = false

        /// The life of a channel.
        enum State {
            case fresh
            /// The accepted socket waits for the channel's loop, on which its connection is made.
            case accepted(Arrival)
            /// The connection that carries the channel is being made, or the channel is being initialized after that.
            case opening(Opening)
            case registered
            case connecting(Attempt)
            /// Connected, and the handlers are not told yet.
            case activating
            case active
            /// The channel sends what is left to be sent, and then gives its connection away.
            case leaving(Departure)
            case closed
        }

        /// An attempt to connect.
        struct Attempt {
            let connector: Connector
            let promise: EventLoopPromise<Void>
            /// True if the address that has won is to be connected through the pipeline, whose handlers have not seen it yet.
            let goesThroughPipeline: Bool
        }

        /// Makes a channel.
        ///
        /// - Parameters:
        ///   - loop: The event loop.
        ///   - socket: The connected socket; nil for a channel that will connect.
        ///   - parent: The channel of the listener that has accepted the connection.
        init(_ loop: RunLoopEventLoop, _ socket: (any ChannelTransport)?, parent: (any Channel)?) {
            self.loop = loop
            self.parent = parent
            self.socket = socket
            facts = ChannelFacts(loop, isWritable: true)
            if let socket {
                facts.knownAddresses = .init(local: socket.localAddress, remote: socket.peerAddress)
            }
            ownPipeline = ChannelPipeline(channel: self)
        }

        var phase: ChannelPhase {
            switch state {
            case .fresh, .accepted, .opening: .fresh
            case .registered, .connecting, .activating: .registered
            case .active, .leaving: .active
            case .closed: .closed
            }
        }

        func didRegister() { state = .registered }

        /// True while the channel can send and receive.
        var isConnected: Bool {
            switch state {
            case .activating, .active, .leaving: true
            case .fresh, .accepted, .opening, .registered, .connecting, .closed: false
            }
        }

        /// The socket's descriptor for options; nil if there is no socket.
        var descriptor: CInt? {
            guard let descriptor = socket?.descriptor, descriptor >= 0 else { return nil }
            return descriptor
        }

        // MARK: - Turns

        /// Asks for a turn.
        func askForTurn() { loop.core.enqueue(self) }

        func takeTurn(_ budget: inout Budget) -> TurnOutcome {
            if !budget.spend() { return .refused }
            switch state {
            case .connecting(let attempt):
                if let outcome = attempt.connector.outcome { finish(attempt, outcome) }
                return .finished
            case .opening(let opening):
                goOn(opening)
                return .finished
            case .leaving(let departure):
                sendMore()
                goOn(departure)
                return .finished
            case .fresh, .accepted, .registered, .activating, .active, .closed: break
            }
            // After the end of the peer's stream, the input comes first: if the connection was reset, an attempt to send hides why.
            if input.availability == .last {
                let outcome = read(&budget)
                sendMore()
                return outcome
            }
            sendMore()
            return read(&budget)
        }

        /// Goes on to send in a turn.
        private func sendMore() {
            if isConnected, output.hasFlushed, !output.isBlocked { sendFlushed(mostCalls: 4) }
        }

        /// Notes a report of the kernel about the socket.
        func isReported(_ readiness: StreamReadiness) {
            if readiness.contains(.bytes) { input.isReported(isLast: readiness.contains(.end)) }
            if readiness.contains(.space) { output.isBlocked = false }
            if input.isDue || output.hasFlushed || readiness.contains(.error) { return askForTurn() }
            if case .opening = state { askForTurn() }
        }
    }
#endif
