public import HTTPMessages

/// A request to a server.
///
/// ```swift
/// var request = HTTPRequest("https://example.org/items", method: "POST")
/// request.fields["Content-Type"] = "application/json"
/// request.body = .bytes(Array(#"{"name": "first"}"#.utf8))
/// ```
///
/// > Thread safety: a value.
public struct HTTPRequest: Hashable, Sendable {
    /// The URL, with the scheme `http` or `https`.
    ///
    /// It may hold a user and a password, which are sent as basic authentication. Characters that are not allowed in a URL must be
    /// percent-encoded.
    public var url: String

    /// The method in capitals, such as `POST`.
    public var method: String

    /// The fields of the header.
    ///
    /// `Host`, `Connection` and `Accept-Encoding` are added automatically unless you set them here. `Content-Length` and
    /// `Transfer-Encoding` follow from the body, and must not be set. If a server redirects to another host, `Authorization` and
    /// `Cookie` are not sent to that host.
    public var fields: HTTPFields

    /// The body of the request.
    public var body: Body

    /// The time that the whole transfer may take, from the start to the last byte; nil for no limit.
    ///
    /// Time also counts while the transfer waits for a free connection, and while it is paused.
    public var timeout: Duration?

    /// The body of a request.
    public enum Body: Hashable, Sendable {
        /// No body.
        case none
        /// A body with these bytes.
        case bytes([UInt8])
        /// The bytes that your code writes while the transfer runs.
        ///
        /// Write them with ``HTTPTransfer/write(_:)``, and then call ``HTTPTransfer/endBody()``.
        ///
        /// If the count is not nil, it is sent as `Content-Length`, and exactly that many bytes must be written. With nil, HTTP/1.1
        /// sends the body in chunks.
        case stream(count: Int?)
    }

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - method: The method, in capitals.
    ///   - fields: The fields of the header.
    ///   - body: The body.
    public init(_ url: String, method: String = "GET", fields: HTTPFields = [:], body: Body = .none) {
        self.url = url
        self.method = method
        self.fields = fields
        self.body = body
    }
}

extension HTTPRequest: CustomStringConvertible {
    /// A description: the method and the URL.
    public var description: String { "\(method) \(url)" }
}
