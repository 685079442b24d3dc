public import HTTPTypes

extension HTTPClient {
    /// A request to a server.
    ///
    /// ```swift
    /// var request = HTTPClient.Request("https://example.org/items", method: .post)
    /// request.headerFields[.contentType] = "application/json"
    /// request.body = .bytes(Array(#"{"name": "first"}"#.utf8))
    /// ```
    ///
    /// > Thread safety: a value.
    public struct Request: Hashable, Sendable {
        /// The URL, with the scheme `http` or `https`.
        ///
        /// It may hold a user and a password, which are sent as basic authentication. Characters that are not allowed in a URL must
        /// be percent-encoded.
        public var url: String

        /// The method.
        public var method: HTTPRequest.Method

        /// The fields of the header.
        ///
        /// `Host`, `Connection` and `Accept-Encoding` are added automatically unless you set them here. `Content-Length` and
        /// `Transfer-Encoding` follow from the body, and must not be set. If a server redirects to another host, `Authorization`
        /// and `Cookie` are not sent to that host.
        public var headerFields: HTTPFields

        /// The body of the request.
        public var body: Body

        /// The time that the whole transfer may take, from the start to the last byte; nil for no limit.
        ///
        /// Time also counts while the transfer waits for a free connection, and while it is paused.
        public var timeout: Duration?

        /// The body of a request.
        @nonexhaustive
        public enum Body: Hashable, Sendable {
            /// No body.
            case none
            /// A body with these bytes.
            case bytes([UInt8])
            /// The bytes that your code writes while the transfer runs.
            ///
            /// Write them with ``HTTPTransfer/write(_:)-([UInt8])``, and then call ``HTTPTransfer/endBody()``.
            ///
            /// If the length is not nil, it is sent as `Content-Length`, and exactly that many bytes must be written. With nil,
            /// HTTP/1.1 sends the body in chunks.
            case stream(contentLength: Int?)
        }

        /// Creates a request.
        ///
        /// - Parameters:
        ///   - url: The URL.
        ///   - method: The method.
        ///   - headerFields: The fields of the header.
        ///   - body: The body.
        public init(
            _ url: String, method: HTTPRequest.Method = .get, headerFields: HTTPFields = [:],
            body: Body = .none
        ) {
            self.url = url
            self.method = method
            self.headerFields = headerFields
            self.body = body
        }

        /// Creates a request from a head, such as one that generated code has made.
        ///
        /// - Parameters:
        ///   - head: The head. Its scheme, authority and path make the URL. The result is nil if one of them is missing, or if they
        ///     do not make a URL with these three parts: the authority is a host and perhaps a port, and the path begins with a
        ///     slash and has no fragment.
        ///   - body: The body.
        public init?(_ head: HTTPRequest, body: Body = .none) {
            guard let scheme = head.scheme, let authority = head.authority, let path = head.path,
                Request.isScheme(scheme), Request.isAuthority(authority), Request.isPath(path)
            else { return nil }
            self.init(
                "\(scheme)://\(authority)\(path)", method: head.method, headerFields: head.headerFields,
                body: body)
        }

        // With other characters, a part of the URL would reach into the next one.

        private static func isScheme(_ text: String) -> Bool {
            !text.isEmpty
                && text.unicodeScalars.allSatisfy {
                    $0.isASCII && $0.properties.isAlphabetic || "0123456789+-.".unicodeScalars.contains($0)
                }
        }

        private static func isAuthority(_ text: String) -> Bool {
            !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && !"/?#@\\".utf8.contains($0) }
        }

        private static func isPath(_ text: String) -> Bool {
            text.utf8.first == UInt8(ascii: "/")
                && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "#") }
        }
    }
}

extension HTTPClient.Request: CustomStringConvertible {
    /// A description: the method and the URL.
    public var description: String { "\(method) \(url)" }
}
