#if HTTPServers
    public import Streams

    extension WebSocket {
        /// The reason that a WebSocket has ended.
        ///
        /// > Thread safety: a value.
        @nonexhaustive
        public enum EndReason: Hashable, Sendable {
            /// Both ends have said that they close.
            ///
            /// Code and text are the client's. They come from outside: escape the text before you write it to a log or a page. The code is
            /// nil if the client has sent none.
            case closed(CloseCode?, reason: String)
            /// The client has broken the protocol or exceeded a limit, and was told this code.
            case failed(CloseCode)
            /// Your code has closed the WebSocket, and the client has not answered that within ``Options/closeTimeout``.
            case timedOut
            /// The connection has ended before both ends have said that they close.
            case connectionEnded(Connection.EndReason)
        }
    }

    extension WebSocket.EndReason: CustomStringConvertible {
        /// A description of the reason, in which the client's text is escaped.
        public var description: String {
            switch self {
            case .closed(let code, let reason):
                "closed by both ends, code \(code?.description ?? "none")"
                    + (reason.isEmpty ? "" : ": \(reason.debugDescription)")
            case .failed(let code): "the client broke the protocol or a limit, code \(code)"
            case .timedOut: "the client did not close in time"
            case .connectionEnded(let reason): "the connection has ended: \(reason)"
            }
        }
    }
#endif
