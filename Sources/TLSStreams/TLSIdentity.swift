internal import CSecureStreams

/// A certificate with its chain and its private key, by which a server, or a client, proves its name.
///
/// ```swift
/// let identity = try TLSIdentity(certificateFile: "server.pem", keyFile: "server.key")
/// ```
///
/// The files are read once. To use new ones, read them again, and pass the identity to ``TLSServerContext/reload(_:options:)``.
///
/// > Thread safety: a value, which may be shared between threads.
public struct TLSIdentity: Sendable {
    let handle: IdentityHandle

    /// Reads an identity from files in PEM.
    ///
    /// - Parameters:
    ///   - certificateFile: The path of the certificate, followed by those of its issuers but the root.
    ///   - keyFile: The path of the private key, which may be the same file.
    ///   - passphrase: The passphrase of the key; nil if it is not encrypted. No passphrase is ever asked for on a terminal.
    /// - Throws: ``TLSSetupError`` if a file cannot be read, or does not hold what it should.
    public init(
        certificateFile: String, keyFile: String, passphrase: String? = nil
    ) throws(TLSSetupError) {
        let certificates = try PEM(file: certificateFile)
        let key = keyFile == certificateFile ? certificates : try PEM(file: keyFile)
        handle = try IdentityHandle(certificates, key, passphrase)
    }

    /// Makes an identity of PEM.
    ///
    /// - Parameters:
    ///   - certificates: The certificate, followed by those of its issuers but the root.
    ///   - key: The private key.
    ///   - passphrase: The passphrase of the key; nil if it is not encrypted.
    /// - Throws: ``TLSSetupError`` if the texts do not hold what they should.
    public init(certificates: [UInt8], key: [UInt8], passphrase: String? = nil) throws(TLSSetupError) {
        handle = try IdentityHandle(
            PEM(bytes: certificates, source: "certificates"), PEM(bytes: key, source: "key"), passphrase)
    }
}

/// The certificates of issuers that are trusted.
///
/// > Thread safety: a value, which may be shared between threads.
public struct TLSTrust: Sendable {
    /// Nil for the issuers of the system.
    let handle: TrustHandle?

    private init(handle: TrustHandle?) { self.handle = handle }

    /// The issuers that the system trusts: those of the package `ca-certificates`, or what the environment variables
    /// `SSL_CERT_FILE` and `SSL_CERT_DIR` say.
    public static let system = TLSTrust(handle: nil)

    /// Reads issuers from a file in PEM, and trusts no others.
    ///
    /// - Parameter file: The path of the certificates. A certificate that is signed by itself may be its own issuer.
    /// - Throws: ``TLSSetupError`` if the file cannot be read, or does not hold certificates.
    public init(file: String) throws(TLSSetupError) { handle = try TrustHandle(PEM(file: file)) }

    /// Reads issuers from PEM, and trusts no others.
    ///
    /// - Parameter certificates: The certificates.
    /// - Throws: ``TLSSetupError`` if the text does not hold certificates.
    public init(certificates: [UInt8]) throws(TLSSetupError) {
        handle = try TrustHandle(PEM(bytes: certificates, source: "certificates"))
    }
}
