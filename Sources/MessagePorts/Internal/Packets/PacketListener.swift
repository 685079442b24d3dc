internal import CSockets
internal import Glibc
internal import RunLoops

/// A socket at which other processes connect.
///
/// > Thread safety: any thread.
struct PacketListener: ~Copyable, Sendable {
    /// What a loop watches.
    let descriptor: CInt

    /// True if no descriptors can be sent to it until a connection admits them: the kernel refuses them to the sender.
    ///
    /// So a connection that is refused holds none, and closing it takes no time. Linux does so from 6.16 on.
    let keepsOutDescriptors: Bool

    /// Makes one that listens under an address.
    ///
    /// - Parameters:
    ///   - address: Where.
    ///   - waiting: How many may wait to be accepted. As many as the system allows: they cost this process nothing.
    ///   - keepsOutDescriptors: Whether the kernel is asked to; a test has it be as an older one.
    /// - Throws: The kernel's refusal, `EADDRINUSE` if the address is taken.
    init(
        _ address: Address, waiting: CInt = .max, keepsOutDescriptors: Bool = true
    ) throws(SystemError) {
        let socket = OwnedDescriptor(try systemCall("socket") { runloops_socket(true) })
        let number = socket.descriptor
        let areOut = keepsOutDescriptors && runloops_admit_descriptors(number, false) == 0
        // Safe: the kernel reads the address as far as it goes.
        _ = try systemCall("bind") {
            unsafe address.bytes.withUnsafeBytes { bytes in
                unsafe runloops_bind(
                    number, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count,
                    address.isAbstract)
            }
        }
        _ = try systemCall("listen") { listen(number, waiting) }
        descriptor = socket.release()
        self.keepsOutDescriptors = areOut
    }

    /// The number of connections that are taken when it ends, where they may hold descriptors.
    private static let mostTakenAtEnd = 16

    deinit {
        if keepsOutDescriptors || Fork.isChild {
            close(descriptor)
            return
        }
        // The last owner of a listener closes what waits in it, and with it the descriptors that were sent. Once it is shut
        // down no more connections come. Each has a close of its own; an abstract name is free when the listener is closed, so
        // that is done here if nothing waits any more.
        shutdown(descriptor, CInt(SHUT_RDWR))
        var rest = PacketListener.mostTakenAtEnd
        while rest > 0, takesOne() { rest -= 1 }
        if rest > 0 {
            close(descriptor)
        } else {
            DescriptorCloser.close([descriptor], for: DescriptorAccount(of: nil), wereCounted: false)
        }
    }

    /// Takes a connection that waits, and closes it elsewhere if that takes time.
    ///
    /// - Returns: False if none waits any more.
    private borrowing func takesOne() -> Bool {
        switch accept() {
        case .connection(var socket):
            socket.identify()
            return true
        case .outOfResources: return true
        case .none: return false
        case .failed: return false
        }
    }

    /// Where a socket is found.
    struct Address {
        /// A path, or an abstract name.
        let bytes: [UInt8]
        let isAbstract: Bool
    }

    /// What there was to accept.
    enum Accepted: ~Copyable {
        /// A client.
        case connection(PacketSocket)
        /// Nobody, for now.
        case none
        /// Somebody, for whom there is no descriptor or no memory. The connection waits; to ask again at once would be in
        /// vain, and the listener stays readable: ``ExponentialBackoff/accepting``.
        case outOfResources(SystemError)
        /// The kernel has refused.
        case failed(SystemError)
    }

    /// Takes one connection, without waiting.
    borrowing func accept() -> Accepted {
        while true {
            let number = runloops_accept(descriptor)
            if number >= 0 {
                return .connection(
                    PacketSocket(adopting: OwnedDescriptor(number), mayHoldDescriptors: !keepsOutDescriptors))
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
    /// Connects with a listener.
    ///
    /// - Parameters:
    ///   - address: The listener's.
    ///   - deadline: When to give up if the listener has too many waiting; nil for never.
    /// - Throws: The kernel's refusal, `EAGAIN` if the deadline passes.
    init(_ address: PacketListener.Address, before deadline: ContinuousClock.Instant?) throws(SystemError) {
        // A socket of this family cannot be polled until it is connected: what waits is the call itself, which then must be
        // allowed to.
        let isPast = deadline.map { $0 <= .now } ?? false
        let socket = OwnedDescriptor(try systemCall("socket") { runloops_socket(isPast) })
        let number = socket.descriptor
        _ = try systemCall("connect") {
            // 0 would be for ever; what is too far away for the kernel is.
            let left =
                deadline.map { max(1, Moment($0).nanosecondsLeft / 1_000) } ?? 0
            // Safe: the kernel reads the address as far as it goes.
            return unsafe address.bytes.withUnsafeBytes { bytes in
                unsafe runloops_connect(
                    number, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count,
                    address.isAbstract, left)
            }
        }
        // Who has asked for a connection may wait in the call that reads: all other calls say that they do not wait.
        if isPast { _ = try systemCall("fcntl") { runloops_set_blocking(number) } }
        self.init(adopting: socket, mayHoldDescriptors: true)
        identify()
    }

    /// Opens the account of the other end, on which closing the socket goes if it takes time.
    mutating func identify() {
        do { account = DescriptorAccount(of: try peer) } catch { account = DescriptorAccount(of: nil) }
    }
}
