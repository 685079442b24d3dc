#if HTTPServers
    public import HTTPTypes
    internal import NIOHTTP1

    extension HTTPServer {
        /// A request of a client.
        ///
        /// > Thread safety: a value.
        public struct Request: Hashable, Sendable {
            /// The method, such as `.get`.
            public let method: HTTPRequest.Method

            /// The target as the client has sent it, such as `/a%20b?c=1`.
            ///
            /// It is a path and a query. A client may also send a URL, such as `http://example.org/a`, and `*` with the method
            /// `OPTIONS`.
            public let target: String

            /// The version of HTTP, `1.0` or `1.1`.
            public let version: String

            /// The host and port that the client has asked for, from the target or from the field `Host`; nil if there is none.
            public let authority: String?

            /// The body.
            ///
            /// It is empty if the request has no body, while the body is being received, and if the body is streamed.
            public internal(set) var body: [UInt8] = []

            private let fields: HeaderBlock

            /// Creates a request, for tests of code that answers requests.
            ///
            /// - Parameters:
            ///   - method: The method.
            ///   - target: The path and the query, escaped.
            ///   - version: The version of HTTP.
            ///   - authority: The host and port.
            ///   - headerFields: The fields of the header.
            ///   - body: The body.
            public init(
                _ method: HTTPRequest.Method = .get, target: String, version: String = "1.1",
                authority: String? = nil, headerFields: HTTPFields = [:], body: [UInt8] = []
            ) {
                self.method = method
                self.target = target
                self.version = version
                self.authority = authority
                self.body = body
                fields = HeaderBlock(headerFields)
            }

            init(_ head: HTTPRequestHead, host: String?) {
                method = HTTPRequest.Method(head.method.name) ?? .get
                target = head.uri
                version = head.version.minor == 0 ? "1.0" : "1.1"
                authority = host
                fields = HeaderBlock(head.headers)
            }

            /// The fields of the header, in the order in which they were received, without `Host`.
            ///
            /// They are converted at the first use. Invalid UTF-8 in values is repaired, and the white space around a value is left
            /// out.
            public var headerFields: HTTPFields { fields.value }

            /// The path as the client has sent it, without the query.
            ///
            /// Percent escapes are kept, so `/a%2Fb` is not mistaken for `/a/b`. In ``segments``, they are decoded.
            public var path: Substring { RequestTarget.path(of: target) }

            /// The parts of the path between slashes, with percent escapes decoded.
            ///
            /// The path `/users/j%20d/` has three segments: `users`, `j d` and an empty one. The segments `.` and `..` are kept.
            /// Invalid UTF-8 in escapes is repaired.
            public var segments: [String] { RequestTarget.segments(of: target) }

            /// The names and values after the question mark of the target.
            public var query: Query { Query(RequestTarget.query(of: target)) }

            /// The value of `Content-Length`; nil if there is none.
            public var contentLength: Int? { headerFields[.contentLength].flatMap { Int($0) } }

            /// The head as HTTPTypes' value, for middleware and generated code.
            ///
            /// Its `scheme` is nil, because a request does not say over what it came.
            public var httpRequest: HTTPRequest {
                HTTPRequest(
                    method: method, scheme: nil, authority: authority, path: target,
                    headerFields: headerFields)
            }
        }
    }

    extension HTTPServer.Request: CustomStringConvertible {
        /// A description: the method and the target.
        public var description: String { "\(method.rawValue) \(target)" }
    }
#endif
