public import HTTPMessages

extension HTTPServer {
    /// An answer to a request.
    ///
    /// ```swift
    /// var response = HTTPServer.Response("Hello, world!")
    /// response.fields["Cache-Control"] = "no-store"
    /// ```
    ///
    /// The server adds `Date`, `Content-Length` and `Connection`.
    ///
    /// > Thread safety: a value.
    public struct Response: Hashable, Sendable {
        /// The status of the answer, from 200 to 599.
        public var status: Int

        /// The fields of the header.
        ///
        /// `Content-Length`, `Transfer-Encoding`, `Connection` and `Date` are set by the server, and are not allowed here. Each value
        /// needs at least one character, because libmicrohttpd sends no empty values.
        public var fields: HTTPFields

        /// The body of the answer.
        public var body: [UInt8]

        /// Creates an answer.
        ///
        /// - Parameters:
        ///   - status: The status.
        ///   - fields: The fields of the header.
        ///   - body: The body.
        public init(status: Int, fields: HTTPFields = [:], body: [UInt8] = []) {
            self.status = status
            self.fields = fields
            self.body = body
        }

        /// Creates an answer with a text.
        ///
        /// - Parameters:
        ///   - text: The text, which is sent in UTF-8.
        ///   - type: The value of `Content-Type`.
        ///   - status: The status.
        public init(_ text: String, type: String = "text/plain; charset=utf-8", status: Int = 200) {
            self.init(status: status, fields: HTTPFields(), body: Array(text.utf8))
            fields.append("Content-Type", type)
        }
    }
}

extension HTTPServer.Response: CustomStringConvertible {
    /// A description: the status and the size of the body.
    public var description: String { "\(status) with \(body.count) bytes" }
}
