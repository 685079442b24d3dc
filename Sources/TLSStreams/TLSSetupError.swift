public import RunLoops

/// A certificate, key or setting that TLS cannot be set up with.
///
/// > Thread safety: a value.
public struct TLSSetupError: Error, Hashable, Sendable {
    /// The kind of a problem.
    public enum Problem: Hashable, Sendable {
        /// The file cannot be read.
        case unreadable(SystemError)
        /// There is no certificate in PEM, or one is broken.
        case noCertificate
        /// There is no private key in PEM, or it is broken.
        case noKey
        /// The key is encrypted, and there is no passphrase, or a wrong one.
        case wrongPassphrase
        /// The key is not that of the first certificate.
        case keyMismatch
        /// OpenSSL refuses the certificate or the key, because it is too weak: an RSA key needs 2,048 bits.
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

    /// The words of OpenSSL, for logs.
    public let details: String
}

extension TLSSetupError: CustomStringConvertible {
    /// The source, the problem, and the words of OpenSSL.
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
