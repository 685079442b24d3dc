public import RunLoops

/// The reason that a transfer did not get a complete answer.
///
/// An answer with a status such as 404 or 500 is not an error.
///
/// > Thread safety: a value.
public enum HTTPClientError: Error, Hashable, Sendable {
    /// The URL of the request is malformed, or its scheme is neither `http` nor `https`.
    case unsupportedURL(String)
    /// The method or a field contains a character that is not allowed, or a field is one that you must not set.
    case invalidRequest(String)
    /// The name of the host, or of the proxy, could not be resolved.
    case unresolved(String)
    /// The connection could not be made, or was refused.
    case notConnected(String)
    /// The transfer has exceeded a time limit.
    case timedOut(Timeout)
    /// TLS could not be set up, or failed later.
    case tlsFailed(String)
    /// The server's certificate is not valid: for example, it has expired, is not trusted, or belongs to another host.
    case certificateRejected(String)
    /// The server redirected more often than ``HTTPClient/Options/redirectLimit``, the associated value.
    case tooManyRedirects(limit: Int)
    /// The server redirected to a URL that is malformed, or whose scheme is neither `http` nor `https`.
    case redirectRefused(String)
    /// The decoded body is longer than ``HTTPClient/Options/bodyLimit``, the associated value.
    case bodyTooLarge(limit: Int)
    /// The header is longer than ``HTTPClient/Options/headerLimit``, the associated value.
    case headerTooLarge(limit: Int)
    /// The server's answer breaks the rules of HTTP, or its body could not be decoded.
    case invalidResponse(String)
    /// The connection ended before the answer was complete.
    case connectionLost(String)
    /// The body of the request had to be sent again, for a redirect or on a new connection, but a stream cannot be sent twice.
    case bodyNotRepeatable
    /// The body could not be read from its descriptor, or the file became shorter during the transfer.
    case uploadFailed(SystemError)
    /// The number of bytes that were written differs from the count that the request states.
    case wrongBodyCount
    /// The transfer, or the task that awaited it, was cancelled.
    case cancelled
    /// The client was invalidated, or the thread of its loop has ended.
    case clientInvalidated
    /// Another error of libcurl, with its code.
    case other(code: Int, String)

    /// The time limits of a transfer.
    public enum Timeout: Hashable, Sendable {
        /// No connection was made within ``HTTPClient/Options/connectTimeout``.
        case connect
        /// No byte was sent or received for ``HTTPClient/Options/idleTimeout``.
        case idle
        /// The transfer was not complete within ``HTTPRequest/timeout``.
        case total
    }
}

extension HTTPClientError: CustomStringConvertible {
    /// A description of the reason.
    public var description: String {
        switch self {
        case .unsupportedURL(let url): "not a URL of http or https: \(url)"
        case .invalidRequest(let words): "an invalid request: \(words)"
        case .unresolved(let words): "the host is not known: \(words)"
        case .notConnected(let words): "no connection: \(words)"
        case .timedOut(.connect): "not connected in time"
        case .timedOut(.idle): "idle for too long"
        case .timedOut(.total): "not complete in time"
        case .tlsFailed(let words): "TLS failed: \(words)"
        case .certificateRejected(let words): "the server's certificate is rejected: \(words)"
        case .tooManyRedirects(let limit): "more than \(limit) redirects"
        case .redirectRefused(let words): "a redirect is refused: \(words)"
        case .bodyTooLarge(let limit): "a body of more than \(limit) bytes"
        case .headerTooLarge(let limit): "a header of more than \(limit) bytes"
        case .invalidResponse(let words): "an invalid answer: \(words)"
        case .connectionLost(let words): "the connection was lost: \(words)"
        case .bodyNotRepeatable: "the body would have to be sent again, but is a stream"
        case .uploadFailed(let error): "the body cannot be read: \(error)"
        case .wrongBodyCount: "the body has another length than was said"
        case .cancelled: "cancelled"
        case .clientInvalidated: "the client was invalidated"
        case .other(let code, let words): "\(words) (\(code))"
        }
    }
}
