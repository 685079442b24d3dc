extension HTTPClientError {
    /// The kinds of errors of a client.
    ///
    /// ```swift
    /// catch HTTPClientError.Reason.unresolved { print("no such host") }
    /// ```
    ///
    /// > Thread safety: a value.
    public struct Reason: Hashable, Sendable {
        enum Kind: String {
            case unsupportedURL = "not a URL of http or https"
            case invalidRequest = "an invalid request"
            case unresolved = "the host is not known"
            case notConnected = "no connection"
            case timedOut = "not complete in time"
            case tlsFailed = "TLS failed"
            case certificateRejected = "the server's certificate is rejected"
            case tooManyRedirects = "too many redirects"
            case redirectRefused = "a redirect is refused"
            case bodyTooLarge = "a body that is too long"
            case headerTooLarge = "a header that is too long"
            case invalidResponse = "an invalid response"
            case connectionLost = "the connection was lost"
            case bodyNotRepeatable = "the body would have to be sent again, but is a stream"
            case uploadFailed = "the body cannot be read"
            case wrongBodyLength = "the body has another length than was said"
            case cancelled = "cancelled"
            case clientInvalidated = "the client was invalidated"
            case other = "another error of libcurl"
        }

        let kind: Kind

        /// The URL of the request is malformed, or its scheme is neither `http` nor `https`.
        public static let unsupportedURL = Reason(kind: .unsupportedURL)
        /// The method is one that you must not use, or a field is one that you must not set.
        public static let invalidRequest = Reason(kind: .invalidRequest)
        /// The name of the host, or of the proxy, could not be resolved.
        public static let unresolved = Reason(kind: .unresolved)
        /// The connection could not be made, or was refused.
        public static let notConnected = Reason(kind: .notConnected)
        /// The transfer has exceeded a time limit, which ``HTTPClientError/timeout`` names.
        public static let timedOut = Reason(kind: .timedOut)
        /// TLS could not be set up, or failed later.
        public static let tlsFailed = Reason(kind: .tlsFailed)
        /// The server's certificate is not valid: for example, it has expired, is not trusted, or belongs to another host.
        public static let certificateRejected = Reason(kind: .certificateRejected)
        /// The server redirected more often than ``HTTPClient/Options/redirectLimit``.
        public static let tooManyRedirects = Reason(kind: .tooManyRedirects)
        /// The server redirected to a URL that is malformed or too long, whose scheme is neither `http` nor `https`, or from
        /// `https` to `http`.
        public static let redirectRefused = Reason(kind: .redirectRefused)
        /// The decoded body is longer than ``HTTPClient/Options/bodyLimit``, or than the limit of the call that read it.
        public static let bodyTooLarge = Reason(kind: .bodyTooLarge)
        /// The header is longer than ``HTTPClient/Options/headerLimit``, or a line of it is longer than libcurl takes, or the client stores
        /// too much for ``HTTPClient/Options/inputLimit``.
        public static let headerTooLarge = Reason(kind: .headerTooLarge)
        /// The server's response breaks the rules of HTTP, or its body could not be decoded.
        public static let invalidResponse = Reason(kind: .invalidResponse)
        /// The connection ended before the response was complete.
        public static let connectionLost = Reason(kind: .connectionLost)
        /// The body of the request had to be sent again, for a redirect or on a new connection, but a stream cannot be sent twice.
        public static let bodyNotRepeatable = Reason(kind: .bodyNotRepeatable)
        /// The body could not be read from its descriptor, or the file became shorter during the transfer.
        ///
        /// ``HTTPClientError/systemError`` is the cause.
        public static let uploadFailed = Reason(kind: .uploadFailed)
        /// The number of bytes that were written differs from the length that the request states.
        public static let wrongBodyLength = Reason(kind: .wrongBodyLength)
        /// The transfer, or the task that awaited it, was cancelled.
        public static let cancelled = Reason(kind: .cancelled)
        /// The client was invalidated, or the thread of its loop has ended.
        public static let clientInvalidated = Reason(kind: .clientInvalidated)
        /// Another error of libcurl, whose code is ``HTTPClientError/curlCode``.
        public static let other = Reason(kind: .other)

        /// Returns true if an error is one of a client, and has a reason; for `catch` clauses.
        ///
        /// - Parameters:
        ///   - reason: The reason.
        ///   - error: The error.
        /// - Returns: True if the error has the reason.
        public static func ~= (reason: Reason, error: any Error) -> Bool {
            (error as? HTTPClientError)?.reason == reason
        }
    }
}

extension HTTPClientError.Reason: CustomStringConvertible {
    /// The reason in words.
    public var description: String { kind.rawValue }
}
