public import RunLoops

/// A stream of bytes to a peer and from it, over TCP or a Unix socket, on one loop.
///
/// A connection is made of an ``AcceptedSocket``, of a socket that you have, or by ``connect(to:options:fileID:line:)``. It
/// does nothing until it is added to a loop, and calls its handlers only while one of its modes runs.
///
/// ```swift
/// let connection = Connection(accepted)
/// connection.onFrame(.lines()) { connection, line in
///     connection.write(line)
///     connection.write("\n")
/// }
/// connection.onEnd { _, reason in print(reason) }
/// try RunLoop.current.add(connection, forMode: .default)
/// ```
///
/// Handlers are called one after the other, never one inside another, even if a handler runs the loop. A handler may do
/// anything: write, pause, close the connection, replace handlers, run the loop. ``onEnd(_:)`` comes once, last, and never
/// inside a call of yours. The loop holds the connection until then, and the connection holds its handlers until then; so a
/// handler may capture what it likes, and use the connection that it is given.
///
/// What a handler writes is sent when it has returned, and all else at the end of the pass, at once. The connection owns its
/// socket, and closes it when it ends, or when it is destroyed without having been added.
///
/// <doc:Connections> tells more.
///
/// > Thread safety: one thread; once it is added, the thread of its loop.
@safe
public final class Connection {
    /// The limits and time-outs, which may be changed at any time.
    public var options: Options {
        didSet { if streams != nil { updateTimer() } }
    }

    let origin: SourceLocation

    /// The storage of ``state``, outside the object.
    ///
    /// Swift checks each access to a property of a class for another access that is still under way. These checks took a fifth
    /// of the time that a request takes outside the kernel. No access here outlasts a call of a handler.
    ///
    /// `ExclusivityUnchecked` cannot hold this value: in builds without optimisation, Swift 6.3.1 moves only a part of it into
    /// memory from generic code.
    ///
    /// `@safe`: the memory belongs to the connection from `init` to `deinit`, and one thread accesses both.
    private let storage: UnsafeMutablePointer<ConnectionState>
    /// The streams of its loop, from when it is added for the first time.
    var streams: LoopStreams?
    /// Frees the place of the connection among those of its listener.
    var admission: AdmittedConnection?
    /// Makes the connection; nil once it is made.
    var connecting: Connecting?
    /// The tasks that wait for something to happen.
    var waitingTasks: [OneShot<WakeUp>] = []
    /// Fires for all deadlines; nil as long as there was none.
    var timer: Timer?

    /// The functions that the user has given.
    struct Handlers {
        var receiver = Receiver.none
        var connected: ((Connection) -> Void)?
        var inputEnded: ((Connection) -> Void)?
        var drained: ((Connection) -> Void)?
        var ended: ((Connection, EndReason) -> Void)?
    }

    /// The handler of what is received.
    enum Receiver {
        /// Received bytes wait.
        case none
        /// Returns the number of bytes that it has consumed.
        case bytes((Connection, RawSpan) -> Int)
        case frames((Connection, RawSpan) -> Void)
        /// A task that reads when it waits.
        case task(FrameReader)
    }

    /// Takes over a connection that a listener has accepted.
    ///
    /// - Parameters:
    ///   - accepted: The accepted socket.
    ///   - options: The limits and time-outs.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    public convenience init(
        _ accepted: consuming AcceptedSocket, options: Options = Options(), fileID: StaticString = #fileID,
        line: Int = #line
    ) {
        let admission = accepted.admission
        self.init(
            StreamSocket(connected: accepted.takeDescriptor()), options, SourceLocation(fileID, line))
        self.admission = admission
    }

    /// Takes over a connected stream socket.
    ///
    /// - Parameters:
    ///   - socket: The socket, such as one end of a pair, or one that another process has sent.
    ///   - options: The limits and time-outs.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Throws: ``/RunLoops/SystemError`` if it is no stream socket (`EPROTOTYPE`), or is not open. It is closed then.
    public convenience init(
        _ socket: consuming OwnedDescriptor, options: Options = Options(), fileID: StaticString = #fileID,
        line: Int = #line
    ) throws(SystemError) {
        self.init(try StreamSocket(checking: socket), options, SourceLocation(fileID, line))
    }

    /// Makes a connection to a place, once it is added to a loop.
    ///
    /// ``onConnect(_:)`` is called when it is made; if it cannot be made, ``onEnd(_:)`` with the reason of the last address
    /// that was tried. What is written before is sent then.
    ///
    /// ```swift
    /// let connection = Connection.connect(to: .tcp(host: "localhost", port: 6379))
    /// connection.write("PING\r\n")
    /// ```
    ///
    /// - Parameters:
    ///   - endpoint: The place.
    ///   - options: The limits and time-outs.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Returns: The connection.
    public static func connect(
        to endpoint: Endpoint, options: Options = Options(), fileID: StaticString = #fileID, line: Int = #line
    ) -> Connection {
        let connection = Connection(StreamSocket(), options, SourceLocation(fileID, line))
        connection.connecting = Connecting(to: endpoint)
        return connection
    }

    private init(_ socket: consuming StreamSocket, _ options: Options, _ origin: SourceLocation) {
        unsafe storage = .allocate(capacity: 1)
        unsafe storage.initialize(to: ConnectionState(socket))
        self.options = options
        self.origin = origin
    }

    deinit {
        timer?.invalidate()
        unsafe storage.deinitialize(count: 1)
        unsafe storage.deallocate()
    }

    // MARK: - State

    /// The part that changes with each byte.
    var state: ConnectionState {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(storage) }
        @inline(__always) unsafeMutableAddress { unsafe storage }
    }

    var handlers: Handlers {
        @inline(__always) _read { yield state.handlers }
        @inline(__always) _modify { yield &state.handlers }
    }

    var places: MemberPlaces {
        @inline(__always) _read { yield state.places }
        @inline(__always) _modify { yield &state.places }
    }

    /// True until the connection has ended; also while it is being made, and while it closes.
    public var isOpen: Bool { state.machine.ended == nil }

    /// True from when the connection is made until it ends.
    public var isConnected: Bool { state.machine.isConnected && isOpen }

    /// The address of this end; nil before the connection is made, and once it has ended.
    public var localAddress: SocketAddress? { state.socket.localAddress }

    /// The address of the peer; nil before the connection is made, and once it has ended.
    public var peerAddress: SocketAddress? { state.socket.peerAddress }

    /// The number of bytes that were received.
    public var receivedByteCount: Int { state.received }

    /// The number of bytes that the kernel has taken to send.
    public var sentByteCount: Int { state.sent }

    /// The number of bytes that were written and that the kernel has not taken.
    public var unsentByteCount: Int { state.output.count }
}

@available(*, unavailable)
extension Connection: Sendable {}

extension Connection: CustomStringConvertible {
    /// The peer, if it is known, and the place where the connection was made.
    public var description: String {
        let peer = connecting.map { " to \($0.endpoint)" } ?? peerAddress.map { " with \($0)" } ?? ""
        return "\(isOpen ? "" : "ended ")connection\(peer) made at \(origin)"
    }
}
