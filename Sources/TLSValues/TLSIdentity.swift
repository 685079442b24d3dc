public import RunLoops

/// A certificate and its private key, with which a server or a client proves its name.
///
/// The identity also contains the certificates of the issuers, except the root.
///
/// ```swift
/// let identity = try TLSIdentity(certificateFile: "server.pem", keyFile: "server.key")
/// ```
///
/// The value holds the text, in PEM, and reads files only once, when it is made. What uses the identity also checks the text. To use
/// changed files, make a new identity from them.
///
/// Neither the description nor a mirror shows the key or the passphrase.
///
/// > Thread safety: a value.
public struct TLSIdentity: Hashable, Sendable {
    package let certificates: PEM
    package let key: PEM
    package let passphrase: String?

    /// Makes an identity from text in PEM.
    ///
    /// - Parameters:
    ///   - certificates: The certificate, followed by the certificates of its issuers except the root.
    ///   - key: The private key.
    ///   - passphrase: The passphrase of the key; nil if the key is not encrypted. The user is never asked for a passphrase on a
    ///     terminal.
    public init(certificates: [UInt8], key: [UInt8], passphrase: String? = nil) {
        self.certificates = PEM(bytes: certificates, source: "certificates")
        self.key = PEM(bytes: key, source: "key")
        self.passphrase = passphrase
    }

    /// Makes an identity from files in PEM.
    ///
    /// - Parameters:
    ///   - certificateFile: The path of a file with the certificate, followed by the certificates of its issuers except the root.
    ///   - keyFile: The path of a file with the private key, which may be the same file.
    ///   - passphrase: The passphrase of the key; nil if the key is not encrypted.
    /// - Throws: ``/RunLoops/SystemError`` if a file cannot be read, or has more than 16 MiB (`EFBIG`). Its description names the
    ///   file.
    public init(certificateFile: String, keyFile: String, passphrase: String? = nil) throws(SystemError) {
        certificates = try PEM(file: certificateFile)
        key = keyFile == certificateFile ? certificates : try PEM(file: keyFile)
        self.passphrase = passphrase
    }
}

extension TLSIdentity: CustomStringConvertible, CustomReflectable {
    /// A description with the source of the certificates.
    public var description: String { "TLS identity from \(certificates.source)" }

    /// A mirror without children, so that the key is not printed by accident.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
