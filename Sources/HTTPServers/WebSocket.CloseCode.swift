#if HTTPServers
    extension WebSocket {
        /// The number with which an end of a WebSocket tells why it closes (RFC 6455, section 7.4).
        ///
        /// > Thread safety: a value.
        public struct CloseCode: RawRepresentable, Hashable, Sendable, Error {
            /// The number.
            public let rawValue: UInt16

            /// Makes a code.
            ///
            /// - Parameter rawValue: The number. Programs use 3000 to 4999 for their own reasons.
            public init(rawValue: UInt16) { self.rawValue = rawValue }

            /// 1000: the purpose of the connection has been fulfilled.
            public static let normal = CloseCode(rawValue: 1000)
            /// 1001: the server stops, or the user has left the page.
            public static let goingAway = CloseCode(rawValue: 1001)
            /// 1002: the other end breaks the protocol.
            public static let protocolError = CloseCode(rawValue: 1002)
            /// 1003: messages of this kind are not accepted, such as binary ones.
            public static let unsupportedData = CloseCode(rawValue: 1003)
            /// 1007: a text is not UTF-8.
            public static let invalidText = CloseCode(rawValue: 1007)
            /// 1008: the message is not allowed.
            public static let policyViolation = CloseCode(rawValue: 1008)
            /// 1009: the message is larger than the limit.
            public static let messageTooBig = CloseCode(rawValue: 1009)
            /// 1011: the server could not fulfil the request.
            public static let internalError = CloseCode(rawValue: 1011)

            /// True if an end may send the code.
            ///
            /// The others are reserved, or not assigned.
            var maySend: Bool {
                switch rawValue {
                case 1000...1003, 1007...1014, 3000...4999: true
                default: false
                }
            }
        }
    }

    extension WebSocket.CloseCode: CustomStringConvertible {
        /// The number.
        public var description: String { String(rawValue) }
    }
#endif
