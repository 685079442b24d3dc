public import HTTPMessages

/// The header of a server's answer.
///
/// This is the header of the last answer: interim answers, such as `100 Continue`, and answers that redirected the request are not
/// shown.
///
/// > Thread safety: a value.
public struct HTTPResponse: Hashable, Sendable {
    /// The status, such as 200 or 404.
    public let status: Int

    /// The URL that answered, which differs from the request's after a redirect.
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
    /// This is the length before decoding. A compressed body is longer after it was decoded.
    public var contentLength: Int? { fields["Content-Length"].flatMap { Int($0) } }
}

extension HTTPResponse: CustomStringConvertible {
    /// The status and the URL.
    public var description: String { "\(status) from \(url)" }
}
