public import RunLoops

extension Connection {
    /// The reason that a connection has ended.
    ///
    /// > Thread safety: a value.
    @nonexhaustive
    public enum EndReason: Hashable, Sendable {
        /// Your code has closed the connection, with ``Connection/close()``, ``Connection/closeAfterWriting()`` or
        /// ``Connection/reset()``.
        case closed
        /// The peer has ended its stream, and all written bytes have been sent.
        case peerClosed
        /// The peer has ended its stream in the middle of a frame, or before the handler had consumed all bytes.
        case incompleteInput
        /// The peer has reset the connection, no longer accepts sent bytes, or no longer answers (`ECONNRESET`, `EPIPE`,
        /// `ETIMEDOUT`; `EIO` of a terminal).
        case reset
        /// A time-out has passed.
        case timedOut(Timeout)
        /// The connection has reached a limit.
        case limit(Limit)
        /// TLS could not be established, or was broken.
        ///
        /// Only connections of the product TLSStreams end for this reason.
        case tls(TLSError)
        /// The host's name could not be resolved.
        case unresolved(ResolutionError)
        /// The kernel reported another error, such as `ECONNREFUSED` while the connection was made.
        case failed(SystemError)
        /// The thread of the connection's loop has ended.
        case loopEnded
        /// A task that awaited the connection was cancelled.
        case cancelled
    }

    /// A limit of a connection, with its value.
    @nonexhaustive
    public enum Limit: Hashable, Sendable {
        /// The peer has sent a frame that is longer than the limit of the ``Framing``.
        case frame(Int)
        /// The bytes that the handler left unconsumed have reached ``Connection/Options/inputLimit``.
        case input(Int)
        /// The peer reads too slowly: a write found that the unsent bytes had reached ``Connection/Options/outputLimit``.
        ///
        /// With TLS, the answers to the peer's records, such as updates of keys, have a limit of their own.
        case output(Int)
    }

    /// A time-out of a connection.
    @nonexhaustive
    public enum Timeout: Hashable, Sendable {
        /// No connection was made, or the hand-shake of TLS was not finished, within ``Connection/Options/connectTimeout``.
        case connect
        /// No byte was sent or received for ``Connection/Options/idleTimeout``.
        case idle
        /// The kernel has accepted none of the unsent bytes within ``Connection/Options/writeTimeout``, because the peer does not
        /// read.
        case write
    }
}

/// A host name that could not be resolved.
///
/// > Thread safety: a value.
public struct ResolutionError: Error, Hashable, Sendable {
    /// The name.
    public let host: String

    /// The code of `getaddrinfo`, such as `EAI_NONAME`.
    public let code: CInt

    /// The system's message for the code.
    public let message: String

    /// Makes an error, for tests and for code that stands in for a connection.
    ///
    /// - Parameters:
    ///   - host: The name.
    ///   - code: The code of `getaddrinfo`.
    ///   - message: The system's message for the code.
    public init(host: String, code: CInt, message: String) {
        self.host = host
        self.code = code
        self.message = message
    }
}

extension ResolutionError: CustomStringConvertible {
    /// The name, the system's message and the code.
    public var description: String { "\(PrintableText(host)): \(message) (\(code))" }
}

extension Connection.EndReason: CustomStringConvertible {
    /// A description of the reason.
    public var description: String {
        switch self {
        case .closed: "closed on this side"
        case .peerClosed: "closed by the peer"
        case .incompleteInput: "closed by the peer before its input was complete"
        case .reset: "reset by the peer"
        case .timedOut(.connect): "not connected in time"
        case .timedOut(.idle): "idle for too long"
        case .timedOut(.write): "the peer has not read for too long"
        case .limit(.frame(let limit)): "a frame of more than \(limit) bytes"
        case .limit(.input(let limit)): "more than \(limit) bytes that were not consumed"
        case .limit(.output(let limit)): "more than \(limit) bytes that the peer has not read"
        case .tls(let error): error.description
        case .unresolved(let error): error.description
        case .failed(let error): error.description
        case .loopEnded: "the thread of the loop has ended"
        case .cancelled: "the task was cancelled"
        }
    }
}
