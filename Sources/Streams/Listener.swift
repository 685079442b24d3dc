public import RunLoops

/// A listening socket that accepts connections on a loop.
///
/// ```swift
/// let listener = try Listener(.tcp(port: 8080))
/// try RunLoop.current.add(listener, forMode: .default) { accepted in
///     serve(Connection(accepted))
/// }
/// ```
///
/// The handler may create a ``Connection`` from the accepted socket, or send the socket to another loop. If the handler runs the
/// loop, further connections are accepted during that run. While the loop runs in none of the listener's modes, connections wait in
/// the kernel's backlog.
///
/// The listener keeps one descriptor in reserve. When the process is out of descriptors, the listener closes the descriptor in
/// reserve. It can then accept one waiting connection at a time, and closes each at once. After that, it pauses; see
/// ``onPause(_:)``.
///
/// > Thread safety: ``invalidate()`` and removing from any thread ([Ends](../../RunLoops/RunLoops.docc/Ends.md)). All other members
/// > from one thread at a time; once the listener is added to a loop, from the loop's thread only.
public final class Listener {
    /// The settings and limits.
    public let options: Options

    /// The address that the listener listens on, with the port that the kernel has chosen.
    public let localAddress: SocketAddress

    /// The counts of connections and pauses since the listener was created.
    public internal(set) var statistics = Statistics()

    let origin: SourceLocation
    package let end = InputEnd()
    let limits = AdmissionCounts()

    /// The pauses in which the listener accepts nothing.
    struct Pauses {
        /// The timer that ends the current pause; nil while there is no pause.
        var timer: Timer?
        /// The lengths of the pauses.
        var backoff = ExponentialBackoff(from: .milliseconds(10), to: .seconds(1))
        /// The number of connections in a row that have failed before they were accepted.
        var failuresInARow = 0
    }

    var places = MemberPlaces(.reading)
    var streams: LoopStreams?
    var handler: ((consuming AcceptedSocket) -> Void)?
    var pauseHandler: ((Listener, SystemError) -> Void)?
    /// The listening socket; nil once the listener is invalid.
    var socket: OwnedDescriptor?
    /// A descriptor that the listener keeps in reserve.
    ///
    /// When the process is out of descriptors, the listener closes this descriptor. It can then accept waiting connections, only to
    /// close them.
    var reserve: OwnedDescriptor?
    /// The socket file that the listener has created; nil if there is none.
    private let file: SocketFile?
    var pauses = Pauses()
    /// True while the listener accepts nothing because ``Options/connectionLimit`` is reached.
    var isFull = false

    /// Opens a listening socket.
    ///
    /// - Parameters:
    ///   - address: The address to listen on.
    ///   - options: The settings and limits.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Throws: ``/RunLoops/SystemError`` if the address is in use (`EADDRINUSE`), the host is not a numeric address of this
    ///   machine (`EADDRNOTAVAIL`), the path is empty (`EINVAL`) or too long (`ENAMETOOLONG`), the directory of the path does
    ///   not exist (`ENOENT`), the port needs a privilege (`EACCES`), or the process has no descriptor left (`EMFILE`).
    public convenience init(
        _ address: Address, options: Options = Options(), fileID: StaticString = #fileID, line: Int = #line
    ) throws(SystemError) {
        let place = SourceLocation(fileID, line)
        do throws(SystemError) {
            let opened = try ListeningSocket.open(address, options)
            try self.init(opened, options, place)
        } catch { throw error.about("listener at \"\(address.textForErrors)\" made at \(place)") }
    }

    /// Takes over a listening socket, such as one that systemd has opened or another process has handed over.
    ///
    /// - Parameters:
    ///   - socket: The socket.
    ///   - options: The limits, and the settings of accepted sockets. ``Options/backlog``, ``Options/reusesPort`` and
    ///     ``Options/takesIPv4`` have no effect.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Throws: ``/RunLoops/SystemError`` if `socket` is not a listening stream socket (`EPROTOTYPE`) or is not open. The
    ///   initializer closes `socket` before it throws.
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

    deinit { pauses.timer?.invalidate() }

    /// True until the listener is invalidated.
    public var isValid: Bool {
        if end.hasEnded { return false }
        return switch socket {
        case .some: true
        case nil: false
        }
    }

    /// The number of open connections that the listener has accepted.
    ///
    /// An ``AcceptedSocket`` counts, too, unless it was destroyed or released.
    public var connectionCount: Int { limits.count }

    /// Sets the handler that is called when the listener pauses, for instance because the kernel is out of descriptors or memory.
    ///
    /// The listener tries again after 10 ms. Each further failure doubles the pause, up to a second. Without a handler, each pause
    /// is reported to ``/RunLoops/RunLoopDiagnostics``. The listener pauses after every error that is not one of the connection to
    /// be accepted, such as a socket that no longer listens (`EINVAL`) or a filter that refuses the call (`EPERM`, `ENOSYS`), and
    /// after 64 connections in a row that have failed.
    ///
    /// - Parameter handler: Called with the listener and the error, at the beginning of each pause.
    public func onPause(_ handler: @escaping (Listener, SystemError) -> Void) {
        requireOwnThread("Listener.onPause")
        if isValid { pauseHandler.replace(with: handler) }
    }

    /// Opens a second descriptor of the socket, from which another process can create a listener.
    ///
    /// Both listeners accept from the same backlog. As long as one of the two descriptors is open, connections are refused only if
    /// the backlog is full. After this call, no listener removes the file of a Unix socket. The next listener that is opened at the
    /// path replaces the file.
    ///
    /// - Returns: The second descriptor.
    /// - Throws: ``/RunLoops/SystemError`` if the process cannot open more descriptors.
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

    /// Closes the socket, and permanently removes the listener from its loop.
    ///
    /// After that, none of the listener's handlers is called. Connections that were accepted stay open. The kernel resets the
    /// connections in the backlog, unless a duplicate of the socket is still open, in this process or another. A second call does
    /// nothing.
    ///
    /// On another thread than the loop's, the loop closes the socket in its next pass, and accepts nothing until then.
    ///
    /// > Thread safety: any thread.
    public func invalidate() { endAnywhere() }

    /// Closes the socket as ``invalidate()`` does, and calls a function when all connections of the listener have ended.
    ///
    /// - Parameter body: Called once: immediately if there is no connection, or else on the thread that ends the last connection.
    package func invalidate(whenDrained body: @escaping @Sendable () -> Void) {
        invalidate()
        limits.whenEmpty(body)
    }

    package func giveBack(inForkedChild isChild: Bool) {
        // In a forked child, the groups and the socket's file are the parent's.
        if !isChild {
            if let descriptor { places.leaveAll(descriptor) }
            file?.remove()
            pauses.timer?.invalidate()
            pauses.timer = nil
        }
        socket = nil
        reserve = nil
        let released = (handler, pauseHandler)
        handler = nil
        pauseHandler = nil
        withExtendedLifetime(released) {}
    }

    /// The descriptor of the socket; nil once the listener is invalid.
    package var descriptor: CInt? {
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

extension Listener: EndedAnywhere {}

@available(*, unavailable)
extension Listener: Sendable {}

extension Listener: HashableByIdentity {}

extension Listener: CustomStringConvertible {
    /// The address, and the source location where the listener was created.
    public var description: String {
        "\(isValid ? "" : "invalid ")listener at \(localAddress) made at \(origin)"
    }
}
