#if NIO
    internal import NIOCore
    internal import RunLoops
    internal import Streams

    /// The object that connects a channel: a connection of Streams, which resolves the name and races the addresses, and gives its socket
    /// away when it is made.
    ///
    /// > Thread safety: the loop's thread only.
    final class Connector {
        private let connection: Connection
        private let timeout: TimeAmount?
        private var socket: ChannelSocket?
        private var error: (any Error)?

        init(to endpoint: Endpoint, timeout: TimeAmount?) {
            self.timeout = timeout
            var options = Connection.Options()
            options.connectTimeout = timeout.map { .nanoseconds($0.nanoseconds) }
            connection = Connection(connectingTo: endpoint, options: options)
            connection.isReadingPaused = true
        }

        /// Begins to connect.
        ///
        /// - Parameters:
        ///   - core: The event loop.
        ///   - body: Called once, when ``outcome`` is known.
        /// - Throws: `SystemError` if the process cannot open more descriptors.
        func start(in core: EventLoopCore, _ body: @escaping () -> Void) throws(SystemError) {
            connection.onConnect { [self] connection in
                if let taken = connection.takeSocket() { socket = ChannelSocket(taken) }
            }
            connection.onEnd { [self] _, reason in
                if socket == nil { error = reason.whileConnecting(timeout: timeout) }
                body()
            }
            do throws(SystemError) {
                for mode in core.modes { try core.runLoop.add(connection, forMode: mode) }
            } catch {
                cancel()
                throw error
            }
        }

        /// The socket, or the error; nil while the connection is being made.
        var outcome: Swift.Result<ChannelSocket, any Error>? {
            if let socket { return .success(socket) }
            return error.map { .failure($0) }
        }

        /// Stops to connect, and closes the socket if there is one already.
        func cancel() {
            connection.onConnect { _ in }
            connection.onEnd { _, _ in }
            connection.close()
            socket?.close(isComplete: false)
        }
    }
#endif
