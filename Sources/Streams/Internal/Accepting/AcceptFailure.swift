internal import Glibc

/// What a failure of `accept4` means for a listener.
enum AcceptFailure {
    /// No connection waits.
    case nothingWaits
    /// The connection that was to be accepted has failed, and the next one can be accepted.
    case connection
    /// The process or the system is out of descriptors.
    case descriptors
    /// No connection can be accepted for now, for example because the system is out of memory or a filter refuses the call.
    case listener

    /// Interprets an error code.
    init(_ code: CInt) {
        switch code {
        case EAGAIN: self = .nothingWaits
        // `accept` also reports errors that the network has reported about the connection; see `accept(2)`.
        case ECONNABORTED, EINTR, ENETDOWN, EPROTO, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP,
            ENETUNREACH:
            self = .connection
        case EMFILE, ENFILE: self = .descriptors
        default: self = .listener
        }
    }
}
