internal import CSecureStreams
internal import Glibc
internal import Streams

/// A version of TLS.
///
/// > Thread safety: a value.
@nonexhaustive
public enum TLSVersion: Hashable, Comparable, Sendable {
    /// TLS 1.2.
    case tls12
    /// TLS 1.3.
    case tls13
}

/// The results of a TLS hand-shake.
///
/// > Thread safety: a value.
public struct TLSDetails: Hashable, Sendable {
    /// The version of TLS.
    public let version: TLSVersion

    /// The cipher suite, as OpenSSL names it, such as `TLS_AES_256_GCM_SHA384`.
    public let cipherSuite: String

    /// The application protocol that both sides agreed on (ALPN); nil if there is none.
    public let applicationProtocol: String?

    /// The server name that the client has asked for; nil if the client has sent none.
    public let serverName: String?

    /// True if a session was resumed, without a full hand-shake.
    public let isResumed: Bool

    /// The verified certificate of the peer; nil if the peer has sent none.
    public let peerCertificate: TLSCertificate?

    init(_ stream: OpaquePointer) {
        // Safe: the stream is open, and the strings that the C functions return are valid until they are copied.
        version = unsafe runloops_tls_is_tls13(stream) ? .tls13 : .tls12
        cipherSuite = unsafe runloops_tls_cipher(stream).map { unsafe String(cString: $0) } ?? ""
        serverName = unsafe runloops_tls_server_name(stream).map { unsafe String(cString: $0) }
        isResumed = unsafe runloops_tls_is_resumed(stream)
        var length: UInt32 = 0
        applicationProtocol = unsafe runloops_tls_protocol(stream, &length).map { bytes in
            unsafe String(
                decoding: UnsafeRawBufferPointer(start: bytes, count: Int(length)), as: UTF8.self)
        }
        var count = 0
        peerCertificate = unsafe runloops_tls_peer_certificate(stream, &count).map { bytes in
            defer { unsafe free(bytes) }
            return unsafe TLSCertificate(der: Array(UnsafeRawBufferPointer(start: bytes, count: count)))
        }
    }
}

/// The certificate of the peer of a TLS connection.
///
/// > Thread safety: a value.
public struct TLSCertificate: Hashable, Sendable {
    /// The certificate in DER, its binary form.
    public let der: [UInt8]

    /// The common name of the certificate's subject; nil if there is none, or if it contains a zero byte.
    ///
    /// Do not use this to check a server. The names of a server are in another field of its certificate, and the hand-shake has
    /// verified them. In a certificate of a client, the common name is often the name of the user.
    public var commonName: String? {
        // Safe: the C function returns a new string, which is copied and freed here.
        guard let name = unsafe runloops_tls_common_name(der, der.count) else { return nil }
        defer { unsafe free(name) }
        return unsafe String(cString: name)
    }
}
