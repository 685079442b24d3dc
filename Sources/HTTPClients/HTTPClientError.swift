public import RunLoops

/// The reason that a transfer did not get a complete response.
///
/// A response with a status such as 404 or 500 is not an error.
///
/// ```swift
/// do {
///     let text = try await client.response(for: request).body.text(upTo: 1 << 20)
/// } catch where error.reason == .timedOut {
///     retryLater()
/// }
/// ```
///
/// > Thread safety: a value.
public struct HTTPClientError: Error, Hashable, Sendable {
    /// The kind of the error.
    public let reason: Reason

    /// What is known beyond the reason, in words for people, such as the text of a library; empty if that is nothing.
    ///
    /// It can quote the server. It contains no control characters.
    public var details: String { facts?.details ?? "" }

    /// The time limit that was exceeded; nil unless the reason is ``Reason/timedOut``.
    public var timeout: Timeout? { facts?.timeout }

    /// The limit that was exceeded, in bytes or in redirects; nil if the reason is not about a limit.
    public var limit: Int? { facts?.limit }

    /// The error of the system that prevented the transfer; nil if there is none.
    public var systemError: SystemError? { facts?.systemError }

    /// The code of libcurl; nil unless the reason is ``Reason/other``.
    public var curlCode: Int? { facts?.curlCode }

    /// Creates an error, for tests and for code that stands in for a client.
    ///
    /// - Parameters:
    ///   - reason: The kind of the error.
    ///   - details: What is known beyond the reason.
    ///   - timeout: The time limit that was exceeded.
    ///   - limit: The limit that was exceeded.
    ///   - systemError: The error of the system.
    ///   - curlCode: The code of libcurl.
    public init(
        _ reason: Reason, details: String = "", timeout: Timeout? = nil, limit: Int? = nil,
        systemError: SystemError? = nil, curlCode: Int? = nil
    ) {
        let facts = Facts(
            details: details, timeout: timeout, limit: limit, systemError: systemError, curlCode: curlCode)
        self.init(reason, facts == Facts() ? nil : facts)
    }

    init(_ reason: Reason, _ facts: Facts?) {
        self.reason = reason
        box = facts.map { .facts($0) }
    }

    /// What belongs to the reason.
    struct Facts: Hashable, Sendable {
        var details = ""
        var timeout: Timeout?
        var limit: Int?
        var systemError: SystemError?
        var curlCode: Int?
    }

    /// A box, so that a transfer, which has room for an error, is small.
    private indirect enum Box: Hashable, Sendable {
        case facts(Facts)
    }

    private let box: Box?

    private var facts: Facts? { if case .facts(let facts) = box { facts } else { nil } }

    /// The time limits of a transfer.
    @nonexhaustive
    public enum Timeout: Hashable, Sendable {
        /// No connection was made within ``HTTPClient/Options/connectTimeout``.
        case connect
        /// No byte was sent or received for ``HTTPClient/Options/idleTimeout``.
        case idle
        /// The transfer was not complete within ``HTTPClient/Request/timeout``.
        case total
    }
}

extension HTTPClientError: CustomStringConvertible {
    /// A description of the reason and the details.
    public var description: String {
        let words =
            switch (reason.kind, limit) {
            case (.tooManyRedirects, let limit?): "more than \(limit) redirects"
            case (.bodyTooLarge, let limit?): "a body of more than \(limit) bytes"
            case (.headerTooLarge, let limit?) where details.isEmpty: "a header of more than \(limit) bytes"
            case (.timedOut, _):
                switch timeout {
                case .connect: "not connected in time"
                case .idle: "idle for too long"
                case .total, nil: "not complete in time"
                }
            default: reason.description
            }
        let code = curlCode.map { " (\($0))" } ?? ""
        if let systemError { return "\(words): \(systemError)" }
        return (details.isEmpty ? words : "\(words): \(details)") + code
    }
}
