internal import CRunLoops
public import RunLoops

/// A socket that receives and sends datagrams on a loop, over UDP or as a Unix socket.
///
/// ```swift
/// let socket = try DatagramSocket(.udp(port: 8125))
/// socket.onReceive { socket, bytes, sender in
///     count(String(decoding: bytes, as: UTF8.self))
/// }
/// try RunLoop.current.add(socket, forMode: .default)
/// ```
///
/// The socket calls its handlers only while the loop runs in one of the socket's modes. Handlers are called one after the other,
/// never one inside another, even if a handler runs the loop. The handler of ``onEnd(_:)`` is called once, after all others, and
/// never during a call that you make to the socket. Until then the loop holds the socket, and the socket holds its handlers. A
/// handler may therefore capture any object, but should use the socket that is passed to it.
///
/// The kernel stores what arrives while nothing receives it, and discards datagrams when its buffer is full
/// (``droppedCount``). Datagrams that you send go to the kernel together: at the end of the pass, or when the handlers
/// have returned. A datagram that the kernel or the network refuses is reported to the handler of ``onUndelivered(_:)``, and the
/// socket stays open. That a datagram has arrived is never reported.
///
/// For more, see <doc:Datagrams>.
///
/// > Thread safety: ``close()`` and removing from any thread ([Ends](../../RunLoops/RunLoops.docc/Ends.md)). All other members from
/// > one thread at a time; once the socket is added to a loop, from the loop's thread only.
public final class DatagramSocket {
    /// The settings and limits.
    public let options: Options

    /// The address that the socket receives at, with the port that the kernel has chosen.
    ///
    /// It is `0.0.0.0` or `::` for a socket that receives at all interfaces.
    public let localAddress: SocketAddress

    /// The peer of a connected socket, which receives from this peer only; nil if the socket is not connected.
    public let peerAddress: SocketAddress?

    /// The counts of datagrams since the socket was created.
    public internal(set) var statistics = Statistics()

    /// True while the handler of ``onReceive(_:)`` is called with a datagram that was longer than ``Options/datagramByteLimit``.
    ///
    /// The bytes beyond the limit are lost.
    public var isTruncated: Bool { input.isCut }

    let origin: SourceLocation
    package let end = InputEnd()

    /// The handlers that your code has set.
    struct Handlers {
        var receiver = Receiver.none
        var undelivered: ((DatagramSocket, SystemError, SocketAddress?) -> Void)?
        var departed: ((DatagramDeparture) -> Void)?
        var room: ((DatagramSocket) -> Void)?
        var ended: ((DatagramSocket, EndReason) -> Void)?
    }

    /// The handler or the task that gets the received datagrams.
    enum Receiver {
        /// No handler is set, so the kernel keeps what arrives.
        case none
        case handler((DatagramSocket, RawSpan, SocketAddress) -> Void)
        case task(DatagramReader)
    }

    /// The stages of a socket's life.
    enum Stage {
        case open
        /// The descriptor is closed, and the handler of the end was not called yet.
        case ended(EndReason)
        /// The end was reported.
        case reported(EndReason)
    }

    /// Whether a handler is being called.
    enum Call {
        case none
        case underWay
        /// The handler has run the loop, and that run has tried to serve the socket.
        case underWayAndReported
    }

    var stage = Stage.open
    var call = Call.none
    var handlers = Handlers()
    var places = MemberPlaces(.edge)
    var loop: LoopDatagrams?
    /// The socket and its file; nil once it is closed.
    var socket: OpenedDatagramSocket?
    /// True if ``settle()`` is called at the end of the pass.
    var isUnsettled = false
    var input = DatagramInput()
    var output = DatagramQueue()

    /// Opens a socket that receives at an address, from any sender.
    ///
    /// - Parameters:
    ///   - address: The address to receive at. A socket that only sends and gets answers needs no port of its own: use
    ///     `.udp(port: 0)`.
    ///   - options: The settings and limits.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Throws: ``/RunLoops/SystemError`` if the address is in use (`EADDRINUSE`), the host is not a numeric address of this
    ///   machine (`EADDRNOTAVAIL`), the path is empty (`EINVAL`) or too long (`ENAMETOOLONG`), the directory of the path does not
    ///   exist (`ENOENT`), the port needs a privilege (`EACCES`), an interface of the options does not exist (`ENODEV`), or the
    ///   process has no descriptor left (`EMFILE`).
    public convenience init(
        _ address: Address, options: Options = Options(), fileID: StaticString = #fileID, line: Int = #line
    ) throws(SystemError) {
        let place = SourceLocation(fileID, line)
        do throws(SystemError) {
            try self.init(OpenedDatagramSocket.open(at: address, options), options, place)
        } catch { throw error.about("datagram socket at \"\(address)\" made at \(place)") }
    }

    /// Opens a socket that sends to one peer, and receives only from this peer.
    ///
    /// - Parameters:
    ///   - peer: The address of the peer.
    ///   - local: The address to receive at; nil for one that the kernel chooses.
    ///   - options: The settings and limits.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Throws: ``/RunLoops/SystemError`` if there is no way to the peer (`ENETUNREACH`), no socket is at the path or name of the
    ///   peer (`ENOENT`, `ECONNREFUSED`), or for the reasons of the initializer that takes an address only.
    public convenience init(
        connectedTo peer: SocketAddress, from local: Address? = nil, options: Options = Options(),
        fileID: StaticString = #fileID, line: Int = #line
    ) throws(SystemError) {
        let place = SourceLocation(fileID, line)
        do throws(SystemError) {
            try self.init(OpenedDatagramSocket.open(connectedTo: peer, from: local, options), options, place)
        } catch { throw error.about("datagram socket to \"\(peer)\" made at \(place)") }
    }

    /// Takes over a socket, such as one that systemd has opened or another process has handed over.
    ///
    /// - Parameters:
    ///   - socket: The socket, bound or connected.
    ///   - options: The limits. The settings of the options have no effect.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Throws: ``/RunLoops/SystemError`` if `socket` is not a socket for datagrams (`EPROTOTYPE`) or is not open. The initializer
    ///   closes `socket` before it throws.
    public convenience init(
        _ socket: consuming OwnedDescriptor, options: Options = Options(), fileID: StaticString = #fileID,
        line: Int = #line
    ) throws(SystemError) {
        try self.init(OpenedDatagramSocket(checking: socket), options, SourceLocation(fileID, line))
    }

    private init(
        _ opened: consuming OpenedDatagramSocket, _ options: Options, _ origin: SourceLocation
    ) {
        if !(1...Options.largestDatagramByteLimit).contains(options.datagramByteLimit) {
            misuse(
                "DatagramSocket.init: datagramByteLimit is \(options.datagramByteLimit); choose 1 to \(Options.largestDatagramByteLimit) bytes"
            )
        }
        self.options = options
        self.origin = origin
        localAddress = opened.localAddress
        peerAddress = opened.peerAddress
        socket = consume opened
    }

    // MARK: - State

    /// True until the socket has ended.
    public var isOpen: Bool { if case .open = stage { !end.hasEnded } else { false } }

    /// The number of datagrams that the kernel has not accepted yet.
    public var unsentCount: Int { output.count }

    /// The number of received datagrams that the kernel has discarded because its buffer was full; 0 once the socket has ended.
    ///
    /// The kernel counts up to 2³², and then from 0 again. It also counts datagrams with a wrong checksum. Unix sockets discard
    /// none.
    public var droppedCount: Int { descriptor.map { Int(runloops_dropped_datagrams($0)) } ?? 0 }

    /// Closes the socket, and discards datagrams that the kernel has not accepted.
    ///
    /// After that, only the handler of ``onEnd(_:)`` is called, with ``EndReason/closed``. A second call does nothing.
    ///
    /// On another thread than the loop's, no handler but that one is called when this call has returned, and the loop closes the
    /// socket in its next pass.
    ///
    /// > Thread safety: any thread.
    public func close() { endAnywhere() }

    /// The descriptor of the socket; nil once the socket is closed.
    var descriptor: CInt? {
        switch socket {
        case .some(let socket): socket.owned.descriptor
        case nil: nil
        }
    }

    func requireOwnThread(_ member: StaticString) {
        loop?.loop.requireOwnThread(member, "perform a block on the loop of the socket and call it there")
    }
}

@available(*, unavailable)
extension DatagramSocket: Sendable {}

extension DatagramSocket: CustomStringConvertible {
    /// The addresses, and the source location where the socket was created.
    public var description: String {
        let peer = peerAddress.map { " to \($0)" } ?? ""
        return "\(isOpen ? "" : "ended ")datagram socket at \(localAddress)\(peer) made at \(origin)"
    }
}

extension DatagramSocket: HashableByIdentity {}
