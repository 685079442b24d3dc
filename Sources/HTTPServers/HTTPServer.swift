internal import CHTTPDaemon
internal import DequeModule
internal import Glibc
public import RunLoops
public import Streams

/// An HTTP server whose connections a loop serves while the loop runs in a given mode.
///
/// ```swift
/// let server = try HTTPServer(.tcp(port: 8080), loop: .current) { exchange in
///     switch exchange.request.path {
///     case "/hello": exchange.respond(HTTPServer.Response("Hello, world!"))
///     default: exchange.respond(HTTPServer.Response(status: 404))
///     }
/// }
/// RunLoop.current.run()
/// ```
///
/// libmicrohttpd implements the protocol: HTTP/1.1 and 1.0, reuse of connections, chunked bodies, and TLS. The server needs no
/// thread except the loop's. It serves its connections while the loop runs in the server's mode; otherwise its connections and
/// handlers wait.
///
/// Handlers are called when libmicrohttpd has returned, so they may do anything: answer later, stop the server, run the loop. While
/// a handler runs, no other handler of the same server is called, even if the handler runs the loop.
///
/// The loop holds the server until the server has stopped or is invalidated. Until then, the server keeps its mode alive.
///
/// For more, see <doc:ServingHTTP>.
///
/// > Thread safety: the thread of the loop only.
@safe
public final class HTTPServer {
    /// The loop that serves the connections.
    public let loop: RunLoop

    /// The mode in which the loop serves the connections.
    public let mode: RunLoop.Mode

    /// The limits of the server.
    public let options: Options

    /// The address that the server listens on, including the port if the kernel has chosen it.
    public let localAddress: SocketAddress

    /// The numbers of connections, requests and answers since the server was made.
    public var statistics: Statistics { counts.value }

    /// The storage of ``statistics``, without exclusivity checks, because each request changes them; see `ExclusivityUnchecked`.
    let counts = ExclusivityUnchecked(Statistics())

    /// The source through which the loop serves the connections; nil once the server is invalid.
    var source: LibrarySource?
    /// libmicrohttpd's daemon; nil once the server is invalid.
    var daemon: OpaquePointer?
    /// The descriptor that becomes readable when the daemon has work: the daemon's epoll set.
    var descriptor: CInt = -1
    /// The listening socket, which belongs to the daemon; -1 once the server has stopped accepting connections.
    var listeningSocket: CInt
    /// The open connections, in no particular order.
    var links: [ServerLink] = []
    /// The exchanges that have handlers to call, first in, first out.
    let queue = ExclusivityUnchecked(Deque<Exchange>())
    /// The exchanges whose streamed answers wait for more bytes from the user, by socket.
    ///
    /// Meanwhile the server watches each socket, to notice if the client leaves.
    var watchedExchanges: [CInt: Exchange] = [:]
    /// The instant of the next check of all connections for exceeded time limits; nil if no check is planned.
    var sweepDate: ContinuousClock.Instant?
    /// The state of the stop; nil unless the server is stopping.
    var stopping: Stopping?
    /// True during `serve()`.
    ///
    /// That method runs the daemon, and finally sets the source's deadline.
    var isServing = false
    /// True while a handler runs; meanwhile no other handler of this server is called.
    var isDelivering = false
    /// True if the daemon must run, because a call has given it work.
    var needsRun = false
    /// The user's handler of requests; nil once the server is invalid.
    var requestHandler: ((HTTPExchange) -> Void)?
    /// The user's handler of headers; nil if none is set or the server is invalid.
    var headerHandler: ((HTTPExchange) -> Void)?
    let origin: SourceLocation

    /// Opens a listening socket, and serves the connections to it.
    ///
    /// - Parameters:
    ///   - address: The address to listen on.
    ///   - loop: The loop of the calling thread.
    ///   - mode: The mode to serve connections in; ``/RunLoops/RunLoop/Mode/common`` stands for all common modes, including those
    ///     that are added later.
    ///   - options: The limits.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - onRequest: Called with each request that was received completely. The handler answers immediately or later.
    /// - Throws: ``/RunLoops/SystemError`` if a `Listener` of the module Streams cannot be made with this address, if the
    ///   certificate or its key is not valid (`EINVAL`), or if there is no memory (`ENOMEM`).
    /// - Precondition: Called on the thread of the loop.
    public convenience init(
        _ address: Listener.Address, loop: RunLoop, mode: RunLoop.Mode = .default,
        options: Options = Options(),
        fileID: StaticString = #fileID, line: Int = #line, onRequest: @escaping (HTTPExchange) -> Void
    ) throws(SystemError) {
        let listener = try Listener(address, fileID: fileID, line: line)
        let socket = try listener.duplicateSocket()
        let localAddress = listener.localAddress
        listener.invalidate()
        try self.init(socket, localAddress, loop, mode, options, SourceLocation(fileID, line), onRequest)
    }

    /// Serves the connections to a listening socket that is already open.
    ///
    /// The socket can come from systemd or from another process.
    ///
    /// Apart from that, this initializer behaves like the initializer with an address.
    ///
    /// - Parameters:
    ///   - socket: The listening stream socket. It is made non-blocking, and closed when the server stops.
    ///   - loop: The loop of the calling thread.
    ///   - mode: The mode to serve connections in.
    ///   - options: The limits.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - onRequest: Called with each request that was received completely.
    /// - Throws: ``/RunLoops/SystemError`` if `socket` is not a listening stream socket (`EPROTOTYPE`), if it is not open, and for
    ///   the same reasons as the initializer with an address. The initializer closes `socket` before it throws.
    /// - Precondition: Called on the thread of the loop.
    public convenience init(
        _ socket: consuming OwnedDescriptor, loop: RunLoop, mode: RunLoop.Mode = .default,
        options: Options = Options(), fileID: StaticString = #fileID, line: Int = #line,
        onRequest: @escaping (HTTPExchange) -> Void
    ) throws(SystemError) {
        let listener = try Listener(socket, fileID: fileID, line: line)
        let socket = try listener.duplicateSocket()
        let localAddress = listener.localAddress
        listener.invalidate()
        try self.init(socket, localAddress, loop, mode, options, SourceLocation(fileID, line), onRequest)
    }

    private init(
        _ socket: consuming OwnedDescriptor, _ localAddress: SocketAddress, _ loop: RunLoop,
        _ mode: RunLoop.Mode, _ options: Options, _ origin: SourceLocation,
        _ onRequest: @escaping (HTTPExchange) -> Void
    ) throws(SystemError) {
        loop.requireOwnThread("HTTPServer.init", "perform a block on the loop and make the server there")
        self.loop = loop
        self.mode = mode
        self.options = options
        self.origin = origin
        self.localAddress = localAddress
        listeningSocket = socket.descriptor
        requestHandler = onRequest
        let source = try LibrarySource(onInvalidation: { [self] in end() }) { [self] _ in serve() }
        unsafe daemon = startDaemon(socket.descriptor)
        if unsafe daemon == nil {
            source.invalidate()
            // libmicrohttpd does not report the reason. Without TLS, no setting can be wrong.
            throw SystemError(call: "MHD_start_daemon", code: options.identity == nil ? ENOMEM : EINVAL)
        }
        _ = socket.release()
        unsafe descriptor = runloops_daemon_descriptor(daemon)
        source.setInterest(.read, of: descriptor)
        do { try loop.add(source, forMode: mode) } catch {
            source.invalidate()
            throw error
        }
        self.source = source
    }

    /// Sets the handler that is called when the header of a request with a body is complete, before the body is received.
    ///
    /// The handler decides about the body. If the handler answers, the server does not ask the client for the body, and closes the
    /// connection after the answer. If the handler calls ``HTTPExchange/onData(_:)``, the body is streamed. Otherwise the server
    /// collects the body, up to ``Options/bodyLimit``.
    ///
    /// When the body is complete, the handler of requests is called, unless the request was answered.
    ///
    /// - Parameter handler: Called with the exchange.
    public func onHeader(_ handler: @escaping (HTTPExchange) -> Void) {
        requireOwnThread("HTTPServer.onHeader")
        if isValid { headerHandler.replace(with: handler) }
    }

    /// The number of open connections.
    ///
    /// An upgraded connection does not count.
    public var connectionCount: Int { links.count }

    /// True until the server has stopped or is invalidated, or the thread of its loop ends.
    public var isValid: Bool { unsafe daemon != nil }

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
        if listeningSocket < 0 {
            misuse(
                "HTTPServer.duplicateSocket: the \(self) accepts no more; duplicate its socket before it stops"
            )
        }
        return try duplicate(listeningSocket)
    }

    /// Ends all requests with ``HTTPExchange/EndReason/serverInvalidated``, and closes all connections and the listening socket.
    ///
    /// The handlers of ``HTTPExchange/onEnd(_:)`` are called before this method returns. If a handler of the server calls this
    /// method, the handlers of ``HTTPExchange/onEnd(_:)`` are called after that handler has returned. Calling this method again
    /// does nothing.
    public func invalidate() {
        requireOwnThread("HTTPServer.invalidate")
        source?.invalidate()
    }

    func requireOwnThread(_ member: StaticString) {
        loop.requireOwnThread(member, "perform a block on the loop of the server and call it there")
    }
}

@available(*, unavailable)
extension HTTPServer: Sendable {}

extension HTTPServer: CustomStringConvertible {
    /// A description: the address, and the source location at which the server was made.
    public var description: String {
        "\(isValid ? "" : "invalid ")HTTP server at \(localAddress) made at \(origin)"
    }
}
