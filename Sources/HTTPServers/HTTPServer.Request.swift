public import HTTPMessages

extension HTTPServer {
    /// A request of a client.
    ///
    /// > Thread safety: a value.
    public struct Request: Hashable, Sendable {
        /// The method, such as `GET`.
        public let method: String

        /// The target as the client has sent it, such as `/a%20b?c=1`.
        public let target: String

        /// The version of HTTP, `1.0` or `1.1`.
        public let version: String

        /// The fields of the header, in the order in which they were received.
        ///
        /// Invalid UTF-8 in names and values is repaired.
        public let fields: HTTPFields

        /// The body.
        ///
        /// It is empty if the request has no body, while the body is being received, and if the body is streamed.
        public internal(set) var body: [UInt8] = []

        /// Creates a request, for tests of code that answers requests.
        ///
        /// - Parameters:
        ///   - method: The method.
        ///   - target: The path and the query, escaped.
        ///   - version: The version of HTTP.
        ///   - fields: The fields of the header.
        ///   - body: The body.
        public init(
            _ method: String, _ target: String, version: String = "1.1", fields: HTTPFields = [:],
            body: [UInt8] = []
        ) {
            self.method = method
            self.target = target
            self.version = version
            self.fields = fields
            self.body = body
        }

        /// The path as the client has sent it, without the query.
        ///
        /// Percent escapes are kept, so `/a%2Fb` is not mistaken for `/a/b`. In ``segments``, they are decoded.
        public var path: Substring { RequestTarget.path(of: target) }

        /// The parts of the path between slashes, with percent escapes decoded.
        ///
        /// The path `/users/j%20d/` has three segments: `users`, `j d` and an empty one. The segments `.` and `..` are kept.
        /// Invalid UTF-8 in escapes is repaired.
        public var segments: [String] { RequestTarget.segments(of: target) }

        /// The names and values after the question mark of the target, in order, with percent escapes decoded and each `+` as a
        /// space.
        ///
        /// A name without a value gets an empty value.
        public var query: HTTPFields { RequestTarget.query(of: target) }

        /// The value of `Content-Length`; nil if there is none.
        public var contentLength: Int? { fields["Content-Length"].flatMap { Int($0) } }
    }
}

extension HTTPServer.Request: CustomStringConvertible {
    /// A description: the method and the target.
    public var description: String { "\(method) \(target)" }
}
