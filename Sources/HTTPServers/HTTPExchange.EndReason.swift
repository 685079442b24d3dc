extension HTTPExchange {
    /// The reason that an exchange has ended.
    ///
    /// > Thread safety: a value.
    public enum EndReason: Hashable, Sendable {
        /// The answer was given to the kernel completely. With an upgrade, the connection has left HTTP.
        case sent
        /// The client has closed or reset the connection.
        case clientLeft
        /// The client has neither sent nor received a byte for ``HTTPServer/Options/idleTimeout``, or a header or body took too long.
        case timedOut
        /// The exchange was aborted, an answer with a count was finished too early, or the kernel has refused.
        case failed
        /// The server was invalidated, has not stopped in time, or the thread of its loop has ended.
        case serverInvalidated
    }
}

extension HTTPExchange.EndReason: CustomStringConvertible {
    /// A description of the reason.
    public var description: String {
        switch self {
        case .sent: "sent"
        case .clientLeft: "the client has left"
        case .timedOut: "timed out"
        case .failed: "failed"
        case .serverInvalidated: "the server was invalidated"
        }
    }
}
