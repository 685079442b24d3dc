#if HTTPServers
    internal import DequeModule
    public import RunLoops
    public import Streams

    /// An HTTP server, whose connections a loop serves in the modes that the server is added to.
    ///
    /// ```swift
    /// let server = try HTTPServer(.tcp(port: 8080))
    /// try RunLoop.current.add(server, forMode: .default) { exchange in
    ///     switch exchange.request.path {
    ///     case "/hello": exchange.respond(.text("Hello, world!"))
    ///     default: exchange.respond(.status(.notFound))
    ///     }
    /// }
    /// RunLoop.current.run()
    /// ```
    ///
    /// The server speaks HTTP/1.1 and 1.0, with reuse of connections, bodies in chunks, and TLS. It parses with NIOHTTP1 of SwiftNIO.
    /// It needs no thread except the loop's. It serves its connections while the loop runs in one of the server's modes; otherwise its
    /// connections and handlers wait.
    ///
    /// Handlers are called outside the parser, so they may do anything: answer later, stop the server, run the loop. While a handler
    /// runs, no other handler of the same server is called, even if the handler runs the loop.
    ///
    /// The loop holds the server until the server has stopped, is invalidated, or is removed from its last mode. Until then, the server
    /// keeps its modes alive. A server that is removed keeps its open connections, and they keep the server: invalidate it to close
    /// them.
    ///
    /// For more, see <doc:ServingHTTP>.
    ///
    /// > Thread safety: ``invalidate()`` and removing from any thread ([Ends](../../RunLoops/RunLoops.docc/Ends.md)). All other
    /// > members from one thread at a time; once the server is added to a loop, from the loop's thread only.
    public final class HTTPServer {
        /// The limits and settings of the server.
        public let options: Options

        /// The address that the server listens on, including the port if the kernel has chosen it.
        public let localAddress: SocketAddress

        /// The numbers of connections, requests and responses since the server was made.
        public internal(set) var statistics = Statistics()

        let listener: Listener
        let origin: SourceLocation
        package let end = InputEnd()
        var handlers = Handlers()
        /// The loop, and the modes that the server is in; nil before the server is added to a loop, and once it is invalid.
        var membership: Membership?
        /// The open connections.
        var links: [ObjectIdentifier: ServerLink] = [:]
        /// What has work, first in, first out.
        var turns = Deque<Turn>()
        /// The state of the stop; nil unless the server is stopping.
        var stopping: Stopping?
        /// True while the server's turns are served, after which it looks for more.
        var isServing = false
        /// True while a handler runs; meanwhile no other handler of this server is called.
        var isCalling = false
        var date = HTTPDate()

        /// The handlers that the program has set.
        struct Handlers {
            var request: ((HTTPExchange) -> Void)?
            var header: ((HTTPExchange) -> Void)?
            var requestEnd: ((HTTPServer, RequestRecord) -> Void)?
        }

        /// Something that has work.
        enum Turn {
            case link(ServerLink)
            /// An exchange whose end the program is to be told.
            case end(Exchange)
        }

        /// Opens a listening socket.
        ///
        /// - Parameters:
        ///   - address: The address to listen on.
        ///   - options: The limits and settings.
        ///   - fileID: The file of the call, for diagnostics.
        ///   - line: The line of the call, for diagnostics.
        /// - Throws: ``/RunLoops/SystemError`` for the same reasons as the initializer of a `Listener` of Streams.
        public convenience init(
            _ address: Listener.Address, options: Options = Options(), fileID: StaticString = #fileID,
            line: Int = #line
        ) throws(SystemError) {
            let listener = try Listener(
                address, options: HTTPServer.listenerOptions(options), fileID: fileID, line: line)
            self.init(listener, options, SourceLocation(fileID, line))
        }

        /// Takes over a listening socket that is already open, such as one that systemd has opened or another process has handed over.
        ///
        /// - Parameters:
        ///   - socket: The listening stream socket. It is made non-blocking, and closed when the server stops.
        ///   - options: The limits and settings. ``Options/backlog`` and ``Options/reusesPort`` have no effect.
        ///   - fileID: The file of the call, for diagnostics.
        ///   - line: The line of the call, for diagnostics.
        /// - Throws: ``/RunLoops/SystemError`` if `socket` is not a listening stream socket (`EPROTOTYPE`), or is not open. The
        ///   initializer closes `socket` before it throws.
        public convenience init(
            _ socket: consuming OwnedDescriptor, options: Options = Options(), fileID: StaticString = #fileID,
            line: Int = #line
        ) throws(SystemError) {
            let listener = try Listener(
                socket, options: HTTPServer.listenerOptions(options), fileID: fileID, line: line)
            self.init(listener, options, SourceLocation(fileID, line))
        }

        private init(_ listener: Listener, _ options: Options, _ origin: SourceLocation) {
            self.listener = listener
            self.options = options
            self.origin = origin
            localAddress = listener.localAddress
        }

        private static func listenerOptions(_ options: Options) -> Listener.Options {
            var limits = Listener.Options()
            limits.connectionLimit = options.connectionLimit
            limits.connectionLimitPerPeer = options.connectionLimitPerPeer
            limits.reusesPort = options.reusesPort
            limits.backlog = options.backlog
            return limits
        }

        /// Sets the handler that is called when the header of a request with a body is complete, before the body is received.
        ///
        /// The handler decides about the body. If the handler answers, the server does not ask the client for the body, and closes the
        /// connection after the response. If the handler calls ``HTTPExchange/onData(_:)``, the body is streamed. Otherwise the server
        /// collects the body, up to ``Options/bodyLimit``.
        ///
        /// When the body is complete, the handler of requests is called, unless the request was answered.
        ///
        /// - Parameter handler: Called with the exchange.
        public func onHeader(_ handler: @escaping (HTTPExchange) -> Void) {
            requireOwnThread("HTTPServer.onHeader")
            if isValid { handlers.header.replace(with: handler) }
        }

        /// Sets the handler that is called when a request has ended, for instance for an access log.
        ///
        /// - Parameter handler: Called once for each request, also for those that the server itself has refused, with the server and the
        ///   record of the request.
        public func onRequestEnd(_ handler: @escaping (HTTPServer, RequestRecord) -> Void) {
            requireOwnThread("HTTPServer.onRequestEnd")
            if isValid { handlers.requestEnd.replace(with: handler) }
        }

        /// The number of open connections.
        ///
        /// An upgraded connection does not count.
        public var connectionCount: Int { links.count }

        /// True until the server has stopped or is invalidated, or the thread of its loop ends.
        public var isValid: Bool { !end.hasEnded }

        /// Duplicates the descriptor of the listening socket, so that another server, in this or another process, can take over.
        ///
        /// Both servers accept from the same backlog. While at least one of the two descriptors is open, no connection is refused,
        /// unless the backlog is full.
        ///
        /// - Returns: The second descriptor.
        /// - Throws: ``/RunLoops/SystemError`` if the process cannot open more descriptors.
        /// - Precondition: The server is valid, and ``stop(within:onStopped:)`` was not called.
        public func duplicateSocket() throws(SystemError) -> OwnedDescriptor {
            requireOwnThread("HTTPServer.duplicateSocket")
            if !listener.isValid {
                misuse(
                    "HTTPServer.duplicateSocket: the \(self) accepts no more; duplicate its socket before it stops"
                )
            }
            return try listener.duplicateSocket()
        }

        /// Ends all requests with ``HTTPExchange/EndReason/serverInvalidated``, and closes all connections and the listening socket.
        ///
        /// The handlers of ``HTTPExchange/onEnd(_:)`` are called before this method returns. If a handler of the server calls this
        /// method, they are called after that handler has returned. On another thread than the loop's, the loop calls them in its next
        /// pass, and no other handler is called when this method has returned. Calling this method again does nothing.
        ///
        /// > Thread safety: any thread.
        public func invalidate() { endAnywhere() }

        func requireOwnThread(_ member: StaticString) {
            membership?.loop.requireOwnThread(
                member, "perform a block on the loop of the server and call it there")
        }
    }

    extension HTTPServer: EndedAnywhere {}

    @available(*, unavailable)
    extension HTTPServer: Sendable {}

    extension HTTPServer: CustomStringConvertible {
        /// A description: the address, and the source location at which the server was made.
        public var description: String {
            "\(isValid ? "" : "invalid ")HTTP server at \(localAddress) made at \(origin)"
        }
    }
#else
    /// A placeholder for this type, which is available only with the package trait `HTTPServers`.
    @available(
        *, unavailable,
        message: "name the trait where you name the package: .package(url: …, traits: [\"HTTPServers\"])"
    )
    public enum HTTPServer: Sendable {}
#endif
