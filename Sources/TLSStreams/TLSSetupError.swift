public import RunLoops

/// An error in a certificate, key or setting that prevents the setup of TLS.
///
/// > Thread safety: a value.
public struct TLSSetupError: Error, Hashable, Sendable {
    /// The kind of a problem.
    public enum Problem: Hashable, Sendable {
        /// The file cannot be read; the associated value is the reason.
        case unreadable(SystemError)
        /// The input contains no certificate in PEM, or a broken one.
        case noCertificate
        /// The input contains no private key in PEM, or a broken one.
        case noKey
        /// The key is encrypted, and the passphrase is missing or wrong.
        case wrongPassphrase
        /// The private key does not belong to the first certificate.
        case keyMismatch
        /// OpenSSL refuses the certificate or the key, because it is too weak. For example, an RSA key needs at least 2,048 bits.
        case tooWeak
        /// The name of an application protocol is empty, or longer than 255 bytes.
        case badProtocolName
        /// OpenSSL has no memory, or failed in another way.
        case failed
    }

    /// The problem.
    public let problem: Problem

    /// The file or the setting that has the problem.
    public let source: String

    /// OpenSSL's text for the problem, for logs.
    public let details: String
}

extension TLSSetupError: CustomStringConvertible {
    /// The source, the problem, and OpenSSL's text for the problem.
    public var description: String {
        let words =
            switch problem {
            case .unreadable(let error): error.description
            case .noCertificate: "no certificate in PEM"
            case .noKey: "no private key in PEM"
            case .wrongPassphrase: "the passphrase of the key is missing or wrong"
            case .keyMismatch: "the key is not that of the certificate"
            case .tooWeak: "refused as too weak"
            case .badProtocolName: "an application protocol needs a name of 1 to 255 bytes"
            case .failed: "OpenSSL failed"
            }
        return "\(source): \(words)" + (details.isEmpty ? "" : " (\(details))")
    }
}
