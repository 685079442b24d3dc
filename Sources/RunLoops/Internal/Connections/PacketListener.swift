internal import CSockets
internal import Glibc

/// A socket at which other processes connect.
///
/// > Thread safety: any thread.
struct PacketListener: ~Copyable, Sendable {
    private let owned: OwnedDescriptor

    /// Whether nobody can send descriptors to it until the connection admits them: the kernel refuses them to the sender.
    ///
    /// So what is turned away holds none, of which nobody knows how long it takes to close them. Linux does so from 6.16 on.
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
        owned = socket
        self.keepsOutDescriptors = areOut
    }

    /// Where a socket is found.
    struct Address {
        /// A path, or an abstract name.
        let bytes: [UInt8]
        let isAbstract: Bool
    }

    /// What a loop watches.
    var descriptor: CInt { owned.descriptor }

    /// What there was to accept.
    enum Accepted: ~Copyable {
        /// A client.
        case connection(PacketSocket)
        /// Nobody, for now.
        case none
        /// Somebody, for whom there is no descriptor or no memory. The connection waits; to ask again at once would be in
        /// vain, and the listener stays readable: ``GrowingPause/accepting``.
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
                    PacketSocket(adopting: OwnedDescriptor(number), mayTakeTime: !keepsOutDescriptors))
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
                deadline.map { max(1, ContinuousClock.now.duration(to: $0).wholeNanoseconds / 1_000) } ?? 0
            // Safe: the kernel reads the address as far as it goes.
            return unsafe address.bytes.withUnsafeBytes { bytes in
                unsafe runloops_connect(
                    number, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count,
                    address.isAbstract, left)
            }
        }
        // Who has asked for a connection may wait in the call that reads: all other calls say that they do not wait.
        if isPast { _ = try systemCall("fcntl") { runloops_set_blocking(number) } }
        self.init(adopting: socket)
    }
}
