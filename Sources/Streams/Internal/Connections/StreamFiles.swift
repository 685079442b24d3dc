internal import CRunLoops
internal import Glibc
internal import RunLoops

/// What the two directions of a connection are.
struct StreamFiles {
    /// What is behind one direction.
    enum Direction {
        /// The descriptor is not open for this direction.
        case absent
        case socket
        /// A pipe, a terminal or another device.
        case device
        /// A device that never has to wait, and cannot be waited for.
        case readyDevice
    }

    var input = Direction.socket
    var output = Direction.socket

    /// Checks a descriptor, and makes it non-blocking.
    ///
    /// - Returns: Its kind.
    /// - Throws: `SystemError` if it is not one of a stream.
    static func check(_ number: CInt) throws(SystemError) -> runloops_stream_kind {
        let kind = runloops_kind_of_stream(number)
        switch kind {
        case runloops_stream_socket:
            if !runloops_is_stream(number) || runloops_listens(number) {
                throw SystemError(call: "getsockopt", code: EPROTOTYPE)
            }
            var length: UInt32 = 0
            var peer = [UInt8](repeating: 0, count: runloops_address_capacity)
            // Safe: the C function only writes to local variables.
            _ = try systemCall("getpeername") { unsafe runloops_peer_address(number, &peer, &length) }
        case runloops_stream_none: throw SystemError(call: "fcntl", code: EBADF)
        case runloops_stream_file:
            throw SystemError(call: "epoll_ctl", code: EPERM).about(
                "a regular file, which is always ready, so that a loop cannot wait for it; "
                    + "read or write it in blocks on a thread of its own")
        case runloops_stream_other: throw SystemError(call: "fstat", code: EPROTOTYPE)
        default: break
        }
        _ = try systemCall("fcntl") { runloops_make_non_blocking(number) }
        return kind
    }
}

extension Optional where Wrapped == OwnedDescriptor, Wrapped: ~Copyable {
    /// The number of the descriptor; nil if there is none.
    var number: CInt? {
        switch self {
        case .some(let owned): owned.descriptor
        case nil: nil
        }
    }
}
