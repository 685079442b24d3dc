/// An error in a certificate, key or setting that prevents the setup of TLS.
///
/// > Thread safety: a value.
public struct TLSSetupError: Error, Hashable, Sendable {
    /// The kind of the problem.
    public let reason: Reason

    /// The file or the setting that has the problem.
    public let source: String

    /// OpenSSL's text for the problem, for logs; empty if there is none.
    public let details: String

    /// Makes an error, for tests.
    ///
    /// - Parameters:
    ///   - reason: The kind of the problem.
    ///   - source: The file or the setting that has the problem.
    ///   - details: OpenSSL's text for the problem.
    public init(_ reason: Reason, source: String, details: String = "") {
        self.reason = reason
        self.source = source
        self.details = details
    }

    /// The kinds of problems.
    ///
    /// > Thread safety: a value.
    public struct Reason: Hashable, Sendable {
        private enum Kind: String {
            case noCertificate = "no certificate in PEM"
            case noKey = "no private key in PEM"
            case wrongPassphrase = "the passphrase of the key is missing or wrong"
            case keyMismatch = "the key is not that of the certificate"
            case tooWeak = "refused as too weak"
            case badProtocolName = "an application protocol needs a name of 1 to 255 bytes"
            case failed = "OpenSSL failed"
        }

        private let kind: Kind

        /// The input contains no certificate in PEM, or a broken one.
        public static let noCertificate = Reason(kind: .noCertificate)
        /// The input contains no private key in PEM, or a broken one.
        public static let noKey = Reason(kind: .noKey)
        /// The key is encrypted, and the passphrase is missing or wrong.
        public static let wrongPassphrase = Reason(kind: .wrongPassphrase)
        /// The private key does not belong to the first certificate.
        public static let keyMismatch = Reason(kind: .keyMismatch)
        /// OpenSSL refuses the certificate or the key, because it is too weak.
        ///
        /// For example, an RSA key needs at least 2,048 bits.
        public static let tooWeak = Reason(kind: .tooWeak)
        /// The name of an application protocol is empty, or longer than 255 bytes.
        public static let badProtocolName = Reason(kind: .badProtocolName)
        /// OpenSSL has no memory, or failed in another way.
        public static let failed = Reason(kind: .failed)

        /// Returns true if an error is a ``TLSSetupError`` with a reason; for `catch` clauses.
        ///
        /// - Parameters:
        ///   - reason: The reason.
        ///   - error: The error.
        /// - Returns: True if the error has the reason.
        public static func ~= (reason: Reason, error: any Error) -> Bool {
            (error as? TLSSetupError)?.reason == reason
        }
    }
}

extension TLSSetupError.Reason: CustomStringConvertible {
    /// The reason in words.
    public var description: String { kind.rawValue }
}

extension TLSSetupError: CustomStringConvertible {
    /// The source, the problem, and OpenSSL's text for the problem.
    public var description: String { "\(source): \(reason)" + (details.isEmpty ? "" : " (\(details))") }
}
