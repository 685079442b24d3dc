#if HTTPServers
    extension HTTPExchange {
        /// The reason that an exchange has ended.
        ///
        /// > Thread safety: a value.
        @nonexhaustive
        public enum EndReason: Hashable, Sendable {
            /// The complete response was given to the kernel, or the connection was upgraded.
            case sent
            /// The client has closed or reset the connection.
            case clientLeft
            /// No byte was sent or received for ``HTTPServer/Options/idleTimeout``, or a header or body took longer than its time
            /// limit.
            case timedOut
            /// Your code has cancelled the exchange.
            case cancelled
            /// A response with a length was ended before all its bytes were written, the request broke the rules of HTTP after its
            /// response had begun, or the response could not be sent.
            case failed
            /// The server was invalidated or did not stop in time, or the thread of its loop has ended.
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
            case .cancelled: "cancelled"
            case .failed: "failed"
            case .serverInvalidated: "the server was invalidated"
            }
        }
    }
#endif
