internal import CRunLoops
internal import Glibc
internal import RunLoops
internal import Synchronization

/// One end of a connection on this machine that preserves packet boundaries: each packet is sent and received whole, or not at all.
///
/// A packet carries bytes and descriptors. The only functions that block are ``wait(for:before:)`` and, if `waits` is true,
/// ``receive(into:_:waits:)``.
///
/// > Thread safety: any thread. Packets of one thread arrive in the order in which it sent them.
struct PacketSocket: ~Copyable, Sendable {
    /// The largest number of descriptors of a packet.
    static let mostDescriptors = Frame.mostDescriptors

    /// The descriptor that a loop watches.
    let descriptor: CInt

    /// True if unread packets in the socket's queue can carry descriptors.
    ///
    /// Closing the socket also closes these descriptors. The other end has chosen them, so closing them can take a long time.
    private let mayHoldDescriptors: Atomic<Bool>

    /// The quota for the descriptors that the other end sends, or nil until the other end is known.
    var quota: DescriptorQuota?

    /// Takes over a connected socket.
    ///
    /// If this end made the connection, the socket is a blocking one; otherwise it is non-blocking.
    ///
    /// - Parameters:
    ///   - socket: The socket.
    ///   - mayHoldDescriptors: True if the other end is another process, and may have sent descriptors.
    init(adopting socket: consuming OwnedDescriptor, mayHoldDescriptors: Bool = false) {
        descriptor = socket.release()
        self.mayHoldDescriptors = Atomic(mayHoldDescriptors)
    }

    deinit {
        if !mayHoldDescriptors.load(ordering: .relaxed) || Fork.isChild {
            close(descriptor)
            return
        }
        // Closing a socket also closes the descriptors of the packets in its queue. Once the socket is shut down, no more packets
        // arrive, so closing a socket whose queue is empty closes nothing else.
        shutDown()
        if runloops_is_drained(descriptor) {
            close(descriptor)
        } else {
            DescriptorCloser.close(
                [descriptor], for: quota ?? DescriptorQuota(of: nil), wereCounted: false)
        }
    }

    /// Allows descriptors in the packets that arrive after this call.
    ///
    /// If the kernel can block descriptors, they are blocked on each new connection that a ``PacketListener`` accepts. The kernel
    /// then rejects packets that carry descriptors, until this method is called.
    borrowing func allowDescriptors() {
        mayHoldDescriptors.store(true, ordering: .relaxed)
        _ = runloops_allow_descriptors(descriptor, true)
    }

    /// Makes two sockets that are connected with each other.
    static func pair() throws(SystemError) -> Pair {
        var ends: [CInt] = [0, 0]
        // Safe: the kernel fills our array of two.
        _ = try systemCall("socketpair") { unsafe runloops_socket_pair(&ends) }
        return Pair(
            near: PacketSocket(adopting: OwnedDescriptor(ends[0])),
            far: PacketSocket(adopting: OwnedDescriptor(ends[1])))
    }

    /// The two ends of one connection.
    struct Pair: ~Copyable {
        var near: PacketSocket
        var far: PacketSocket
    }

    /// The process at the other end.
    var peer: PeerCredentials {
        get throws(SystemError) {
            let socket = descriptor
            var peer = runloops_peer()
            // Safe: the function fills our own value.
            _ = try systemCall("getsockopt") { unsafe runloops_peer_of(socket, &peer) }
            return PeerCredentials(processID: peer.process, userID: peer.user, groupID: peer.group)
        }
    }

    /// The size of the largest packet that this socket can send, in bytes.
    ///
    /// The send buffer limits this size, because a packet occupies the send buffer until the other end has received the packet.
    var mostBytes: Int {
        get throws(SystemError) {
            let socket = descriptor
            // `unix_dgram_sendmsg` in the kernel reserves 32 bytes of the space for each packet.
            return Int(try systemCall("getsockopt") { runloops_sending_space(socket) }) - 32
        }
    }

    /// Asks the kernel for a send buffer that has room for packets of this size.
    ///
    /// The kernel gives as much as the system's `wmem_max` allows.
    borrowing func makeRoom(forPacketsOf bytes: Int) throws(SystemError) {
        let socket = descriptor
        let space = CInt(clamping: bytes + 64)
        _ = try systemCall("setsockopt") { runloops_set_sending_space(socket, space) }
    }

    /// Ends the connection for both ends, and wakes up the threads of this process that wait for the socket.
    ///
    /// Packets that were sent before are still received.
    borrowing func shutDown() { _ = shutdown(descriptor, CInt(SHUT_RDWR)) }

    /// Waits until a packet can be read or sent, or the other end is closed.
    ///
    /// - Returns: False if the deadline passes first.
    borrowing func wait(
        for direction: Direction, before deadline: ContinuousClock.Instant?
    ) throws(SystemError) -> Bool {
        let end = deadline.map { Moment($0) } ?? .never
        while true {
            let left = end.nanosecondsLeft
            let code = runloops_wait_for_socket(descriptor, direction.shim, end == .never ? -1 : left)
            if code == 0 { return true }
            if code < 0 {
                let error = errno
                if error != EINTR { throw SystemError(call: "ppoll", code: error) }
            } else if left == 0 {
                return false
            }
        }
    }

    /// The event that a thread waits for at a socket.
    ///
    /// If the other end is closed, every wait ends, whatever its event is.
    enum Direction {
        case read, write
        /// The other end is closed; a thread that waits for this event continues to wait when packets arrive.
        case end

        fileprivate var shim: runloops_awaited {
            switch self {
            case .read: runloops_wait_to_read
            case .write: runloops_wait_to_write
            case .end: runloops_wait_for_end
            }
        }
    }
}
