internal import CSecureStreams

/// A certificate and its private key, with which a server or a client proves its name.
///
/// The identity also contains the certificates of the issuers, except the root.
///
/// ```swift
/// let identity = try TLSIdentity(certificateFile: "server.pem", keyFile: "server.key")
/// ```
///
/// The initializer reads the files only once. To use changed files, make a new identity from them, and pass it to
/// ``TLSServerContext/reload(_:options:)``.
///
/// > Thread safety: a value, which may be shared between threads.
public struct TLSIdentity: Sendable {
    let handle: IdentityHandle

    /// Reads an identity from files in PEM.
    ///
    /// - Parameters:
    ///   - certificateFile: The path of a file with the certificate, followed by the certificates of its issuers except the root.
    ///   - keyFile: The path of a file with the private key, which may be the same file.
    ///   - passphrase: The passphrase of the key; nil if the key is not encrypted. The user is never asked for a passphrase on a
    ///     terminal.
    /// - Throws: ``TLSSetupError`` if a file cannot be read, or the certificates or the key cannot be used.
    public init(
        certificateFile: String, keyFile: String, passphrase: String? = nil
    ) throws(TLSSetupError) {
        let certificates = try PEM(file: certificateFile)
        let key = keyFile == certificateFile ? certificates : try PEM(file: keyFile)
        handle = try IdentityHandle(certificates, key, passphrase)
    }

    /// Makes an identity from text in PEM.
    ///
    /// - Parameters:
    ///   - certificates: The certificate, followed by the certificates of its issuers except the root.
    ///   - key: The private key.
    ///   - passphrase: The passphrase of the key; nil if the key is not encrypted.
    /// - Throws: ``TLSSetupError`` if the certificates or the key cannot be used.
    public init(certificates: [UInt8], key: [UInt8], passphrase: String? = nil) throws(TLSSetupError) {
        handle = try IdentityHandle(
            PEM(bytes: certificates, source: "certificates"), PEM(bytes: key, source: "key"), passphrase)
    }
}

/// The issuers whose certificates a client or a server accepts.
///
/// > Thread safety: a value, which may be shared between threads.
public struct TLSTrust: Sendable {
    /// The OpenSSL store with the issuers' certificates; nil for the issuers that the system trusts.
    let handle: TrustHandle?

    private init(handle: TrustHandle?) { self.handle = handle }

    /// The issuers that the system trusts.
    ///
    /// These are the issuers of the package `ca-certificates`, or those that the environment variables `SSL_CERT_FILE` and
    /// `SSL_CERT_DIR` name.
    public static let system = TLSTrust(handle: nil)

    /// Reads trusted issuers from a file in PEM; no other issuers are trusted.
    ///
    /// - Parameter file: The path of a file with the certificates of the issuers. A self-signed certificate may be its own issuer.
    /// - Throws: ``TLSSetupError`` if the file cannot be read, or does not hold certificates.
    public init(file: String) throws(TLSSetupError) { handle = try TrustHandle(PEM(file: file)) }

    /// Reads trusted issuers from text in PEM; no other issuers are trusted.
    ///
    /// - Parameter certificates: The certificates of the issuers.
    /// - Throws: ``TLSSetupError`` if the text does not hold certificates.
    public init(certificates: [UInt8]) throws(TLSSetupError) {
        handle = try TrustHandle(PEM(bytes: certificates, source: "certificates"))
    }
}
