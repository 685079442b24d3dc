public import RunLoops

/// Accepts connections on a loop.
///
/// ```swift
/// let listener = try Listener(.tcp(port: 8080))
/// try RunLoop.current.add(listener, forMode: .default) { accepted in
///     serve(Connection(accepted))
/// }
/// ```
///
/// The handler may make a ``Connection`` of the accepted socket, or send it to another loop. A run of the loop inside the
/// handler accepts further connections. While the listener is in no mode that runs, connections wait in the kernel's backlog.
///
/// If the process may open no more descriptors, the listener closes the connections that wait, with a descriptor that it holds
/// in reserve for that, and pauses: ``onPause(_:)``.
///
/// > Thread safety: one thread; once it is added, the thread of its loop.
public final class Listener {
    /// The settings and limits.
    public let options: Options

    /// The address that the listener listens at, with the port that the kernel has chosen.
    public let localAddress: SocketAddress

    /// The counts since the listener was made.
    public internal(set) var statistics = Statistics()

    let origin: SourceLocation
    let limits = AdmissionCounts()
    var places = MemberPlaces(.reading)
    var streams: LoopStreams?
    var handler: ((consuming AcceptedSocket) -> Void)?
    var pauseHandler: ((Listener, SystemError) -> Void)?
    /// Nil once the listener is invalid.
    var socket: OwnedDescriptor?
    /// Closed to accept a connection that cannot be served.
    var reserve: OwnedDescriptor?
    /// The file that the listener has made.
    private let file: SocketFile?
    var backoff = ExponentialBackoff(from: .milliseconds(10), to: .seconds(1))
    /// Ends a pause; nil while there is none.
    var pauseTimer: Timer?
    /// As many connections are open as may be.
    var isFull = false

    /// Opens a socket that listens.
    ///
    /// - Parameters:
    ///   - address: The place to listen at.
    ///   - options: The settings and limits.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Throws: ``/RunLoops/SystemError``: the place is taken (`EADDRINUSE`), the host is no numeric address of this machine
    ///   (`EADDRNOTAVAIL`), the path is too long (`ENAMETOOLONG`), the port needs a privilege (`EACCES`), or the process may open
    ///   no more descriptors.
    public convenience init(
        _ address: Address, options: Options = Options(), fileID: StaticString = #fileID, line: Int = #line
    ) throws(SystemError) {
        let place = SourceLocation(fileID, line)
        do throws(SystemError) {
            let opened = try ListeningSocket.open(address, options)
            try self.init(opened, options, place)
        } catch { throw error.about(.named("listener at", "\(address)", place)) }
    }

    /// Takes over a socket that listens: one that systemd has opened, or that another process has handed over.
    ///
    /// - Parameters:
    ///   - socket: The socket.
    ///   - options: The limits. The settings of the socket stay as they are.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Throws: ``/RunLoops/SystemError`` if it is no stream socket that listens (`EPROTOTYPE`). It is closed then.
    public convenience init(
        _ socket: consuming OwnedDescriptor, options: Options = Options(), fileID: StaticString = #fileID,
        line: Int = #line
    ) throws(SystemError) {
        try self.init(ListeningSocket(checking: socket), options, SourceLocation(fileID, line))
    }

    private init(
        _ opened: consuming ListeningSocket, _ options: Options, _ origin: SourceLocation
    ) throws(SystemError) {
        self.options = options
        self.origin = origin
        reserve = try OwnedDescriptor.eventDescriptor()
        localAddress = opened.address
        file = opened.file
        socket = opened.takeDescriptor()
    }

    // An object of one thread: it is destroyed there.
    deinit { pauseTimer?.invalidate() }

    /// False for good once the listener was invalidated.
    public var isValid: Bool {
        switch socket {
        case .some: true
        case nil: false
        }
    }

    /// The number of connections of the listener that have not ended.
    ///
    /// An ``AcceptedSocket`` counts, too.
    public var connectionCount: Int { limits.count }

    /// Sets the handler that is called when the listener pauses because the kernel is out of descriptors or memory.
    ///
    /// The listener tries again after 10 ms, and after pauses that grow to a second as long as it fails.
    ///
    /// - Parameter handler: Called with the listener and the error, at the beginning of each pause.
    public func onPause(_ handler: @escaping (Listener, SystemError) -> Void) {
        requireOwnThread("Listener.onPause")
        if isValid { pauseHandler = handler }
    }

    /// Opens a second descriptor of the socket, to hand it over to another process, which makes a listener of it.
    ///
    /// Both accept connections then, and no connection is refused while one of them is open. From then on no listener removes
    /// the file of a Unix socket. The next listener that is opened at the path replaces it.
    ///
    /// - Returns: The second descriptor.
    /// - Throws: ``/RunLoops/SystemError`` if the process may open no more.
    /// - Precondition: The listener is valid.
    public func duplicateSocket() throws(SystemError) -> OwnedDescriptor {
        requireOwnThread("Listener.duplicateSocket")
        switch socket {
        case .some(let socket):
            let duplicate = try socket.duplicate()
            file?.keep()
            return duplicate
        case nil:
            misuse("Listener.duplicateSocket: the \(self) was invalidated; duplicate its socket before that")
        }
    }

    /// Closes the socket, and takes the listener out of its loop for good.
    ///
    /// No handler of it starts afterwards. Connections that were accepted stay open. Those in the backlog are reset by the
    /// kernel, unless a duplicate of the socket is still open, in this process or another. Calling it again does nothing.
    public func invalidate() {
        requireOwnThread("Listener.invalidate")
        end()
    }

    /// Closes the socket, and releases the handlers.
    func end() {
        if let descriptor { places.leaveAll(descriptor) }
        file?.remove()
        socket = nil
        reserve = nil
        pauseTimer?.invalidate()
        pauseTimer = nil
        let released = (handler, pauseHandler)
        handler = nil
        pauseHandler = nil
        withExtendedLifetime(released) {}
    }

    /// The number of the socket; nil once the listener is invalid.
    var descriptor: CInt? {
        switch socket {
        case .some(let socket): socket.descriptor
        case nil: nil
        }
    }

    func requireOwnThread(_ member: StaticString) {
        streams?.loop.requireOwnThread(
            member, "perform a block on the loop of the listener and call it there")
    }
}

@available(*, unavailable)
extension Listener: Sendable {}

extension Listener: CustomStringConvertible {
    /// The address, and the place where the listener was made.
    public var description: String {
        "\(isValid ? "" : "invalid ")listener at \(localAddress) made at \(origin)"
    }
}
