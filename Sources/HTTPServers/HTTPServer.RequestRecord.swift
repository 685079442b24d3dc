#if HTTPServers
    public import HTTPTypes
    public import Streams

    extension HTTPServer {
        /// What a server tells about a request that has ended, for instance for an access log.
        ///
        /// > Thread safety: a value.
        public struct RequestRecord: Hashable, Sendable {
            /// The method; nil if the header was not understood.
            public let method: HTTPRequest.Method?
            /// The target as the client has sent it; nil if the header was not understood.
            ///
            /// It comes from outside: escape it before you write it to a log or a page.
            public let target: String?
            /// The status of the response; nil if none was begun.
            public let status: HTTPResponse.Status?
            /// The address of the client.
            public let peerAddress: SocketAddress
            /// The number of bytes of the response's body that were written.
            public let sentByteCount: Int
            /// The time from the end of the request's header to the end of the exchange.
            public let duration: Duration
            /// The reason that the exchange has ended.
            public let reason: HTTPExchange.EndReason
            /// True if the server itself has refused the request, because it breaks the rules of HTTP or exceeds a limit.
            public let isRefused: Bool
        }
    }

    extension HTTPServer.RequestRecord: CustomStringConvertible {
        /// A description: the method and the target with their escapes, the status, and the reason.
        public var description: String {
            let request = method.map { "\($0.rawValue) \((target ?? "").debugDescription)" } ?? "no request"
            return "\(request): \(status.map { "\($0.code)" } ?? "no response"), \(reason)"
        }
    }
#endif
