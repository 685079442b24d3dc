internal import CRunLoops
internal import Glibc
internal import RunLoops

/// A socket that other processes connect to.
///
/// > Thread safety: any thread.
struct PacketListener: ~Copyable, Sendable {
    /// The descriptor that a loop watches.
    let descriptor: CInt

    /// True if a new connection accepts no descriptors until ``PacketSocket/allowDescriptors()`` is called.
    ///
    /// Until then, each attempt of the client to send a descriptor fails. So a connection that is refused holds no descriptors, and
    /// closing it takes no time. Linux 6.16 and later can refuse descriptors.
    let blocksDescriptors: Bool

    /// Makes a socket that listens at an address.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - waiting: The number of connections that can wait to be accepted. The default is the largest number that the system
    ///     allows: waiting connections cost this process nothing.
    ///   - blocksDescriptors: True if the kernel is asked to block descriptors. A test passes false to simulate an older kernel.
    /// - Throws: `SystemError` if the kernel refuses; the code is `EADDRINUSE` if the address is taken.
    init(
        _ address: Address, waiting: CInt = .max, blocksDescriptors: Bool = true
    ) throws(SystemError) {
        let socket = OwnedDescriptor(try systemCall("socket") { runloops_socket(true) })
        let number = socket.descriptor
        let areBlocked = blocksDescriptors && runloops_allow_descriptors(number, false) == 0
        // Safe: the kernel reads the address within its bounds.
        _ = try systemCall("bind") {
            unsafe address.bytes.withUnsafeBytes { bytes in
                unsafe runloops_bind(
                    number, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count,
                    address.isAbstract)
            }
        }
        _ = try systemCall("listen") { listen(number, waiting) }
        descriptor = socket.release()
        self.blocksDescriptors = areBlocked
    }

    /// The largest number of waiting connections that `deinit` accepts and closes one by one.
    ///
    /// `deinit` accepts connections only if they can hold descriptors.
    private static let mostTakenAtEnd = 16

    deinit {
        if blocksDescriptors || Fork.isChild {
            close(descriptor)
            return
        }
        // Closing a listener also closes the connections that wait in it and the descriptors that were sent to these connections,
        // which can take time. So each waiting connection is accepted and closed separately. Once the listener is shut down, no
        // more connections arrive. If no connection is left, closing the listener takes no time, and this thread closes it: an
        // abstract name is not free until its listener is closed.
        shutdown(descriptor, CInt(SHUT_RDWR))
        var rest = PacketListener.mostTakenAtEnd
        while rest > 0, takesOne() { rest -= 1 }
        if rest > 0 {
            close(descriptor)
        } else {
            DescriptorCloser.close([descriptor], for: DescriptorQuota(of: nil), wereCounted: false)
        }
    }

    /// Accepts a waiting connection, and closes it.
    ///
    /// If closing the connection can take time, another thread closes it.
    ///
    /// - Returns: False if no connection waits, or if the kernel refuses for a reason other than a lack of resources.
    private borrowing func takesOne() -> Bool {
        switch accept() {
        case .connection(var socket):
            socket.openQuota()
            return true
        case .outOfResources: return true
        case .none: return false
        case .failed: return false
        }
    }

    /// The address of a socket.
    struct Address {
        /// A path, or an abstract name.
        let bytes: [UInt8]
        let isAbstract: Bool
    }

    /// The result of accepting one connection.
    enum Accepted: ~Copyable {
        /// The connection of a client.
        case connection(PacketSocket)
        /// No connection waits to be accepted.
        case none
        /// A connection waits, but there is no descriptor or no memory for it.
        ///
        /// The connection stays in the queue, and the listener stays readable. An immediate second attempt would fail again. So the
        /// loop waits before the next attempt; ``ExponentialBackoff/accepting`` determines how long.
        case outOfResources(SystemError)
        /// The kernel has refused with an error that no other case covers.
        case failed(SystemError)
    }

    /// Accepts one connection, without waiting.
    borrowing func accept() -> Accepted {
        while true {
            let number = runloops_accept(descriptor)
            if number >= 0 {
                return .connection(
                    PacketSocket(adopting: OwnedDescriptor(number), mayHoldDescriptors: !blocksDescriptors))
            }
            let code = errno
            switch code {
            case EINTR, ECONNABORTED: continue
            case EAGAIN: return .none
            case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                return .outOfResources(SystemError(call: "accept", code: code))
            default: return .failed(SystemError(call: "accept", code: code))
            }
        }
    }
}

extension PacketSocket {
    /// Connects to a listener.
    ///
    /// - Parameters:
    ///   - address: The listener's address.
    ///   - deadline: The time at which the call gives up if too many connections wait at the listener; nil for never.
    /// - Throws: `SystemError` if the kernel refuses; the code is `EAGAIN` if the deadline passes.
    init(_ address: PacketListener.Address, before deadline: ContinuousClock.Instant?) throws(SystemError) {
        // A socket of this family cannot be polled until it is connected. `connect` itself waits, so the socket has to be a
        // blocking one if there is time to wait.
        let isPast = deadline.map { $0 <= .now } ?? false
        let socket = OwnedDescriptor(try systemCall("socket") { runloops_socket(isPast) })
        let number = socket.descriptor
        _ = try systemCall("connect") {
            // 0 means forever, and so does a time that is too long for the kernel.
            let left =
                deadline.map { max(1, Moment($0).nanosecondsLeft / 1_000) } ?? 0
            // Safe: the kernel reads the address within its bounds.
            return unsafe address.bytes.withUnsafeBytes { bytes in
                unsafe runloops_connect(
                    number, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count,
                    address.isAbstract, left)
            }
        }
        // The socket of the end that made the connection is a blocking one, so that a thread can block in the call that reads. All
        // other calls pass flags that keep them from blocking.
        if isPast { _ = try systemCall("fcntl") { runloops_set_blocking(number) } }
        self.init(adopting: socket, mayHoldDescriptors: true)
        openQuota()
    }

    /// Makes the ``DescriptorQuota`` for the descriptors that the other end sends.
    ///
    /// Closing this socket can take time. So while ``DescriptorCloser`` closes the socket, the quota counts the socket as well.
    mutating func openQuota() {
        do { quota = DescriptorQuota(of: try peer) } catch { quota = DescriptorQuota(of: nil) }
    }
}
