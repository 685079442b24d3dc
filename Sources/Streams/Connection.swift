public import RunLoops
internal import Synchronization

/// A stream of bytes to and from a peer, over TCP, a Unix socket, pipes or a terminal, on one loop.
///
/// Create a connection from an ``AcceptedSocket``, from descriptors that you own, or with
/// ``init(connectingTo:options:fileID:line:)``. The connection does nothing until it is added to a loop, and calls its handlers only
/// while the loop runs in one of the connection's modes.
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
/// Handlers are called one after the other, never one inside another, even if a handler runs the loop. A handler may do anything:
/// write, pause, close the connection, replace handlers, run the loop. The handler of ``onEnd(_:)`` is called once, after all
/// others, and never during a call that you make to the connection. Until then the loop holds the connection, and the connection
/// holds its handlers. A handler may therefore capture any object, but should use the connection that is passed to it.
///
/// Bytes that a connection's own handlers write are sent together, after the handlers have been called for the received bytes.
/// Bytes that you write elsewhere are sent at the end of the pass. The connection owns its socket, and closes the socket when the
/// connection ends, or when the connection is destroyed while it is in no mode of a loop. If it was never added to a loop by then, and
/// was not closed, ``/RunLoops/RunLoopDiagnostics`` reports the place where it was made.
///
/// For more, see <doc:Connections>.
///
/// > Thread safety: ``close()``, ``reset()`` and removing from any thread
/// > ([Ends](../../RunLoops/RunLoops.docc/Ends.md)). All other members from one thread at a time; once the connection is added to a
/// > loop, from the loop's thread only.
@safe
public final class Connection {
    /// The limits and time-outs, which may be changed at any time.
    public var options: Options {
        get { state.options }
        set {
            requireOwnThread("Connection.options")
            state.options = newValue
            if streams != nil { updateTimer() }
        }
    }

    let origin: SourceLocation
    package let end = InputEnd()
    /// True if the peer gets an error when ``end`` takes effect.
    let resetsAtEnd = Atomic(false)
    /// True once your code has added the connection to a loop, even if the kernel or the end of the loop has prevented it.
    var wasAdded = false

    /// The memory that holds ``state``.
    ///
    /// If `state` were stored in the object, Swift would check each access for another access that is still under way. These checks
    /// took a fifth of the time that a request takes outside the kernel. They are not needed here, because no access to this memory
    /// is under way while a handler is called.
    ///
    /// `ExclusivityUnchecked` cannot hold this value, because it is generic. If Swift 6.3.1 compiles generic code without
    /// optimisation, that code moves only a part of the value into memory. With `CHECKS_EXCLUSIVITY`, this value is not checked: the
    /// address sanitizer finds that such a getter of Swift 6.3.1 yields memory that it has already freed.
    ///
    /// `@safe`: the memory belongs to the connection from `init` to `deinit`, and only one thread accesses the connection and the
    /// memory.
    private let storage: UnsafeMutablePointer<ConnectionState>
    /// The registry of all streams of the connection's loop; nil until the connection is first added to a loop.
    var streams: LoopStreams?
    /// The record that counts the connection towards the limits of its listener; nil if the connection counts towards none.
    var admission: AdmittedConnection?
    /// The attempt to make the connection; nil once the connection is made.
    var connecting: Connecting?
    /// For each task that awaits `connected()`, `drained()` or `ended()`, the one-shot that wakes the task.
    var waitingTasks: [OneShot<WakeUp>] = []
    /// The timer for all deadlines of the connection; nil until the first deadline is set.
    var timer: Timer?

    /// The handlers that your code has set.
    struct Handlers {
        var receiver = Receiver.none
        var connected: ((Connection) -> Void)?
        var inputEnded: ((Connection) -> Void)?
        var drained: ((Connection) -> Void)?
        /// Told when the kernel has accepted bytes; see `onSent(_:)`.
        var sent: ((Connection) -> Void)?
        var ended: ((Connection, EndReason) -> Void)?
    }

    /// The handler or the task that gets the received bytes or frames.
    enum Receiver {
        /// No handler is set, so received bytes wait.
        case none
        /// A handler is given the bytes, and returns the number of bytes that it has consumed.
        case bytes((Connection, RawSpan) -> Int)
        case frames((Connection, RawSpan) -> Void)
        /// A task reads the bytes.
        case task(FrameReader)
        /// An object in another module of the package receives and sends the bytes itself.
        case driver(any StreamDriver)
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

    /// Takes over the descriptor of a stream: a connected socket, an end of a pipe, a terminal or another device.
    ///
    /// An end of a pipe has one direction only. At the reading end, nothing can be written. At the writing end, the connection ends
    /// with ``EndReason/reset`` when nobody reads any more. A terminal whose other end is closed has ended its stream. The null
    /// device ends its stream at once, and accepts everything.
    ///
    /// The descriptor becomes non-blocking, also for other processes that have the same open file, such as a shell.
    ///
    /// - Parameters:
    ///   - socket: The descriptor, such as one end of a pair, or one that another process has sent.
    ///   - options: The limits and time-outs.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Throws: ``/RunLoops/SystemError`` if `socket` is a socket that is not a connected stream socket (`EPROTOTYPE`, `ENOTCONN`),
    ///   a regular file (`EPERM`), a directory or a block device (`EPROTOTYPE`), or is not open (`EBADF`). The initializer closes
    ///   `socket` before it throws.
    public convenience init(
        _ socket: consuming OwnedDescriptor, options: Options = Options(), fileID: StaticString = #fileID,
        line: Int = #line
    ) throws(SystemError) {
        self.init(try StreamSocket(files: socket, output: nil), options, SourceLocation(fileID, line))
    }

    /// Takes over two descriptors, one to read from and one to write to, such as the pipes to a child process.
    ///
    /// When the output ends, the second descriptor is closed, so that its reader gets the end of the stream. If nobody reads from it
    /// any more, the connection ends with ``EndReason/reset``.
    ///
    /// ```swift
    /// let child = try Connection(reading: fromChild.readingEnd, writing: toChild.writingEnd)
    /// ```
    ///
    /// - Parameters:
    ///   - input: The descriptor that is read from. Each kind is allowed that
    ///     ``init(_:options:fileID:line:)-(OwnedDescriptor,_,_,_)`` takes.
    ///   - output: The descriptor that is written to.
    ///   - options: The limits and time-outs.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Throws: ``/RunLoops/SystemError`` for the reasons of the initializer with one descriptor, or if `input` cannot be read or
    ///   `output` cannot be written (`EBADF`). The initializer closes both before it throws.
    public convenience init(
        reading input: consuming OwnedDescriptor, writing output: consuming OwnedDescriptor,
        options: Options = Options(), fileID: StaticString = #fileID, line: Int = #line
    ) throws(SystemError) {
        self.init(
            try StreamSocket(files: input, output: output), options, SourceLocation(fileID, line))
    }

    /// Creates a connection that connects to an endpoint once it is added to a loop.
    ///
    /// When the connection is made, the handler of ``onConnect(_:)`` is called, and the bytes that you wrote earlier are sent. If
    /// the connection cannot be made, the handler of ``onEnd(_:)`` is called. Its reason is the failure of the last address that
    /// was tried.
    ///
    /// ```swift
    /// let connection = Connection(connectingTo: .tcp(host: "localhost", port: 6379))
    /// connection.write("PING\r\n")
    /// ```
    ///
    /// - Parameters:
    ///   - endpoint: The host and port, path or address to connect to.
    ///   - options: The limits and time-outs.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    public convenience init(
        connectingTo endpoint: Endpoint, options: Options = Options(), fileID: StaticString = #fileID,
        line: Int = #line
    ) {
        self.init(StreamSocket(), options, SourceLocation(fileID, line))
        connecting = Connecting(to: endpoint)
    }

    private init(_ socket: consuming StreamSocket, _ options: Options, _ origin: SourceLocation) {
        unsafe storage = .allocate(capacity: 1)
        let output = socket.watchedOutput
        unsafe storage.initialize(to: ConnectionState(socket, options))
        self.origin = origin
        if output >= 0 { state.outputEnd = OutputEnd(self, output) }
    }

    deinit {
        timer?.invalidate()
        if !wasAdded && isOpen {
            RunLoopDiagnostics.report(
                "Connection: the \(self) was released before it was added to a loop; add it to a loop, which then holds it"
            )
        }
        unsafe storage.deinitialize(count: 1)
        unsafe storage.deallocate()
    }

    // MARK: - State

    /// The part of the connection that changes whenever bytes are sent or received.
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

    /// True until the connection has ended.
    ///
    /// This includes the times when the connection is still being made, and when it is closing.
    public var isOpen: Bool { !state.machine.hasEnded && !end.hasEnded }

    /// True while the connection is established: after it is made, and until it ends.
    public var isConnected: Bool { state.machine.isConnected && isOpen }

    /// The address of this end; nil before the connection is made, and once it has ended.
    public var localAddress: SocketAddress? { state.socket.localAddress }

    /// The address of the peer; nil before the connection is made, and once it has ended.
    public var peerAddress: SocketAddress? { state.socket.peerAddress }

    /// The number of bytes that the connection has received.
    public var receivedByteCount: Int { state.received }

    /// The number of written bytes that the kernel has accepted for sending.
    public var sentByteCount: Int { state.sent }

    /// The number of written bytes that the kernel has not accepted yet.
    public var unsentByteCount: Int { state.output.count }
}

@available(*, unavailable)
extension Connection: Sendable {}

extension Connection: HashableByIdentity {}

extension Connection: CustomStringConvertible {
    /// The peer, if it is known, and the source location where the connection was created.
    public var description: String {
        let peer = connecting.map { " to \($0.endpoint)" } ?? peerAddress.map { " with \($0)" } ?? ""
        return "\(isOpen ? "" : "ended ")connection\(peer) made at \(origin)"
    }
}
