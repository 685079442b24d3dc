public import HTTPMessages

/// The header of a server's answer.
///
/// A server can send several answers to one request. This is the header of the last one: interim answers, such as `100 Continue`,
/// and answers that redirected the request are not shown.
///
/// > Thread safety: a value.
public struct HTTPResponse: Hashable, Sendable {
    /// The status of the answer, such as 200 or 404.
    public let status: Int

    /// The URL that the answer comes from.
    ///
    /// After a redirect, it differs from the URL of the request.
    public let url: String

    private let header: HeaderBlock

    init(_ header: consuming HeaderBlock, url: String) {
        status = header.status
        self.header = header
        self.url = url
    }

    /// The fields of the header, in the order in which they were received.
    ///
    /// Invalid UTF-8 in names and values is repaired.
    ///
    /// - Complexity: O(*n*) in the length of the header, at each use: keep the result if you look up several fields.
    public var fields: HTTPFields { header.fields }

    /// The version of HTTP that the server answered with, such as `1.1` or `2`.
    public var version: String { header.version }

    /// The value of `Content-Length`; nil if there is none.
    ///
    /// This is the length of the body as the server sends it. If the body is compressed, its length after decoding is different.
    public var contentLength: Int? { fields["Content-Length"].flatMap { Int($0) } }
}

extension HTTPResponse: CustomStringConvertible {
    /// A description: the status and the URL.
    public var description: String { "\(status) from \(url)" }
}
