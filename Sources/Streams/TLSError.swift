/// An error that ended a connection with TLS.
///
/// The side that finds an error reports it to the other side with a TLS alert. So an error, such as an expired certificate, has the
/// same ``Reason`` on both sides, as far as the alert can express the cause. ``isFromPeer`` tells which side has found the error.
///
/// > Thread safety: a value.
public struct TLSError: Error, Hashable, Sendable {
    /// The cause of a TLS error.
    ///
    /// > Thread safety: a value.
    public struct Reason: Hashable, Sendable {
        private enum Kind: String {
            case certificateExpired = "the certificate has expired"
            case certificateNotYetValid = "the certificate is not valid yet"
            case unknownIssuer = "the issuer of the certificate is not trusted"
            case nameMismatch = "the certificate is for another name"
            case certificateRevoked = "the certificate was revoked"
            case certificateRequired = "no certificate was sent"
            case badCertificate = "the certificate cannot be used"
            case noCommonVersion = "no common version of TLS"
            case noCommonCipher = "no common cipher suite"
            case noCommonApplicationProtocol = "no common application protocol"
            case unknownServerName = "the server does not have this name"
            case notTLS = "the peer does not speak TLS"
            case truncated = "the stream ended without a notice"
            case other = "TLS failed"
        }

        private let kind: Kind

        /// The certificate, or one of its issuers, is no longer valid.
        public static let certificateExpired = Reason(kind: .certificateExpired)
        /// The certificate, or one of its issuers, is not valid yet.
        public static let certificateNotYetValid = Reason(kind: .certificateNotYetValid)
        /// No trusted issuer has signed the certificate, neither directly nor through other issuers.
        public static let unknownIssuer = Reason(kind: .unknownIssuer)
        /// The certificate does not have the name of the server.
        public static let nameMismatch = Reason(kind: .nameMismatch)
        /// The certificate was revoked by its issuer.
        public static let certificateRevoked = Reason(kind: .certificateRevoked)
        /// The other side requires a certificate, and none was sent.
        public static let certificateRequired = Reason(kind: .certificateRequired)
        /// The certificate is broken, too weak, or not made for this use.
        public static let badCertificate = Reason(kind: .badCertificate)
        /// The two sides have no version of TLS in common.
        public static let noCommonVersion = Reason(kind: .noCommonVersion)
        /// The two sides have no cipher suite, signature or group in common.
        public static let noCommonCipher = Reason(kind: .noCommonCipher)
        /// The two sides have no application protocol in common.
        public static let noCommonApplicationProtocol = Reason(kind: .noCommonApplicationProtocol)
        /// The server does not have the name that the client has asked for.
        public static let unknownServerName = Reason(kind: .unknownServerName)
        /// The bytes of the other side are not TLS.
        public static let notTLS = Reason(kind: .notTLS)
        /// The other side closed its socket without the notice (close_notify) that ends a stream of TLS, so bytes may be missing.
        public static let truncated = Reason(kind: .truncated)
        /// Another failure, such as a record that was changed in transit.
        ///
        /// ``TLSError/details`` has OpenSSL's text.
        public static let other = Reason(kind: .other)
    }

    /// The cause.
    public let reason: Reason

    /// True if the peer has found the error, and has reported it with an alert.
    public let isFromPeer: Bool

    /// OpenSSL's text for the error, for logs.
    public let details: String

    /// Makes an error, for tests and for code that stands in for a connection.
    ///
    /// - Parameters:
    ///   - reason: The cause.
    ///   - isFromPeer: True if the peer has found the error.
    ///   - details: OpenSSL's text.
    public init(_ reason: Reason, isFromPeer: Bool = false, details: String = "") {
        self.reason = reason
        self.isFromPeer = isFromPeer
        self.details = details
    }
}

extension TLSError: CustomStringConvertible {
    /// The cause, the side that has found the error, and OpenSSL's text.
    public var description: String {
        "\(reason)" + (isFromPeer ? ", says the peer" : "") + (details.isEmpty ? "" : ": " + details)
    }
}

extension TLSError.Reason: CustomStringConvertible {
    /// The cause in words.
    public var description: String { kind.rawValue }
}
