#if HTTPServers
    extension WebSocket {
        /// A message that the client has sent.
        ///
        /// > Thread safety: a value.
        @nonexhaustive
        public enum Message: Hashable, Sendable {
            /// A text. Its bytes were checked to be UTF-8.
            case text(String)
            /// Bytes.
            case binary([UInt8])
        }
    }
#endif
