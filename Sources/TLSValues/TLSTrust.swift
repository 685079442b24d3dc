public import RunLoops

/// The issuers whose certificates a client or a server accepts.
///
/// > Thread safety: a value.
public struct TLSTrust: Hashable, Sendable {
    /// The certificates of the issuers; nil for the issuers that the system trusts.
    package let certificates: PEM?

    private init(_ certificates: PEM?) { self.certificates = certificates }

    /// The issuers that the system trusts.
    ///
    /// These are the issuers of the package `ca-certificates`.
    public static let system = TLSTrust(nil)

    /// Makes the trust in issuers from text in PEM; no other issuers are trusted.
    ///
    /// - Parameter certificates: The certificates of the issuers. A self-signed certificate may be its own issuer.
    public init(certificates: [UInt8]) {
        self.init(PEM(bytes: certificates, source: "certificates"))
    }

    /// Makes the trust in issuers from a file in PEM; no other issuers are trusted.
    ///
    /// - Parameter file: The path of a file with the certificates of the issuers.
    /// - Throws: ``/RunLoops/SystemError`` if the file cannot be read, or has more than 16 MiB (`EFBIG`). Its description names the
    ///   file.
    public init(file: String) throws(SystemError) { self.init(try PEM(file: file)) }
}

extension TLSTrust: CustomStringConvertible, CustomReflectable {
    /// A description with the source of the certificates.
    public var description: String {
        "TLS trust in \(certificates.map { "the issuers from \($0.source)" } ?? "the system's issuers")"
    }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
