/// An error that ended a connection with TLS.
///
/// The side that finds an error reports it to the other side with a TLS alert. So an error, such as an expired certificate, has the
/// same ``Reason`` on both sides, as far as the alert can express the cause. ``isFromPeer`` tells which side has found the error.
///
/// > Thread safety: a value.
public struct TLSError: Error, Hashable, Sendable {
    /// The cause of a TLS error.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The certificate, or one of its issuers, is no longer valid.
        case certificateExpired
        /// The certificate, or one of its issuers, is not valid yet.
        case certificateNotYetValid
        /// No trusted issuer has signed the certificate, neither directly nor through other issuers.
        case unknownIssuer
        /// The certificate does not have the name of the server.
        case nameMismatch
        /// The certificate was revoked by its issuer.
        case certificateRevoked
        /// The other side requires a certificate, and none was sent.
        case certificateRequired
        /// The certificate is broken, too weak, or not made for this use.
        case badCertificate
        /// The two sides have no version of TLS in common.
        case protocolVersion
        /// The two sides have no cipher suite, signature or group in common.
        case noCommonCipher
        /// The two sides have no application protocol in common.
        case noCommonApplicationProtocol
        /// The server does not have the name that the client has asked for.
        case unknownServerName
        /// The bytes of the other side are not TLS.
        case notTLS
        /// The other side closed its socket without the notice (close_notify) that ends a stream of TLS, so bytes may be missing.
        case truncated
        /// Another failure, such as a record that was changed in transit.
        ///
        /// ``TLSError/details`` has OpenSSL's text.
        case other
    }

    /// The cause.
    public let reason: Reason

    /// True if the peer has found the error, and has reported it with an alert.
    public let isFromPeer: Bool

    /// OpenSSL's text for the error, for logs.
    public let details: String

    package init(_ reason: Reason, isFromPeer: Bool = false, _ details: String) {
        self.reason = reason
        self.isFromPeer = isFromPeer
        self.details = details
    }
}

extension TLSError: CustomStringConvertible {
    /// The cause, the side that has found the error, and OpenSSL's text.
    public var description: String {
        let words =
            switch reason {
            case .certificateExpired: "the certificate has expired"
            case .certificateNotYetValid: "the certificate is not valid yet"
            case .unknownIssuer: "the issuer of the certificate is not trusted"
            case .nameMismatch: "the certificate is for another name"
            case .certificateRevoked: "the certificate was revoked"
            case .certificateRequired: "no certificate was sent"
            case .badCertificate: "the certificate cannot be used"
            case .protocolVersion: "no common version of TLS"
            case .noCommonCipher: "no common cipher suite"
            case .noCommonApplicationProtocol: "no common application protocol"
            case .unknownServerName: "the server does not have this name"
            case .notTLS: "the peer does not speak TLS"
            case .truncated: "the stream ended without a notice"
            case .other: "TLS failed"
            }
        return words + (isFromPeer ? ", says the peer" : "") + (details.isEmpty ? "" : ": " + details)
    }
}
