public import HTTPTypes

extension HTTPClient {
    /// The header of a server's response.
    ///
    /// A server can send several responses to one request. This is the header of the last one: interim responses, such as
    /// `100 Continue`, and responses that redirected the request are not shown.
    ///
    /// > Thread safety: a value.
    public struct ResponseHead: Hashable, Sendable {
        /// The status of the response, such as `.notFound` or the literal 404.
        public let status: HTTPResponse.Status

        /// The URL that the response comes from.
        ///
        /// After a redirect, it differs from the URL of the request.
        public let url: String

        private let header: HeaderBlock

        init(_ header: consuming HeaderBlock, url: String) {
            status = HTTPResponse.Status(code: header.status, reasonPhrase: header.reasonPhrase)
            self.header = header
            self.url = url
        }

        /// The fields of the header, in the order in which they were received.
        ///
        /// Invalid UTF-8 in a value is repaired.
        ///
        /// - Complexity: O(*n*) in the length of the header, at each use: keep the result if you look up several fields.
        public var headerFields: HTTPFields { header.fields }

        /// The version of HTTP of the response, such as `1.1` or `2`.
        public var version: String { header.version }

        /// The value of `Content-Length`; nil if there is none.
        ///
        /// This is the length of the body as the server sends it. If the body is compressed, its length after decoding is
        /// different.
        public var contentLength: Int? {
            header.values(of: "content-length").first.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        }

        /// The status and the fields as one value, for code that is not about this client.
        ///
        /// - Complexity: O(*n*) in the length of the header, at each use.
        public var httpResponse: HTTPResponse { HTTPResponse(status: status, headerFields: headerFields) }
    }
}

extension HTTPClient.ResponseHead: CustomStringConvertible {
    /// A description: the status and the URL.
    public var description: String { "\(status.code) from \(url)" }
}
