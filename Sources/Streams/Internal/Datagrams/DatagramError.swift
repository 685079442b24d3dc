internal import CRunLoops
internal import Glibc

/// The errors of datagrams that were sent.
enum DatagramError {
    /// True if the network can have reported an error, about this datagram or an earlier one; see `ip(7)`.
    static func isOfNetwork(_ code: CInt) -> Bool {
        switch code {
        case ECONNREFUSED, ECONNRESET, EHOSTUNREACH, ENETUNREACH, EHOSTDOWN, ENETDOWN, ENONET, EPROTO,
            ENOPROTOOPT,
            EMSGSIZE, EOPNOTSUPP, EACCES:
            true
        default: false
        }
    }

    /// Takes the next error from the queue of a socket.
    ///
    /// - Returns: The error, and the address to which the datagram was sent; nil if there is none.
    static func take(from descriptor: CInt) -> (code: CInt, receiver: SocketAddress?)? {
        var code: CInt = 0
        let receiver = unsafe SocketAddress { address in
            var length: UInt32 = 0
            // Safe: the C function only writes to local variables.
            code = unsafe runloops_take_network_error(descriptor, address, &length)
            return length
        }
        return code == 0 ? nil : (code, receiver)
    }
}
