internal import CSecureStreams
internal import TLSValues

// Each of these classes owns an object of OpenSSL, and frees it when the instance is destroyed.

/// The owner of an identity's OpenSSL objects: its certificates and its private key.
///
/// > Thread safety: any thread; nothing changes the object.
@safe
final class IdentityHandle: Sendable {
    /// Safe: OpenSSL uses atomics to count the references to the identity's objects, and nothing else in these objects changes.
    nonisolated(unsafe) let pointer: OpaquePointer

    init(_ identity: TLSIdentity) throws(TLSSetupError) {
        let (certificates, key) = (identity.certificates, identity.key)
        var report = SetupReport()
        // Safe: the C function reads the bytes only during the call.
        let made = unsafe runloops_tls_identity(
            certificates.bytes, certificates.bytes.count, key.bytes, key.bytes.count,
            identity.passphrase,
            &report.problem, &report.words)
        guard let made = unsafe made else {
            throw report.error(
                about: report.problem == runloops_tls_no_certificate ? certificates.source : key.source)
        }
        unsafe pointer = made
    }

    deinit { unsafe runloops_tls_free_identity(pointer) }
}

/// The owner of an OpenSSL store of trusted certificates.
///
/// > Thread safety: any thread; nothing changes the object.
@safe
final class TrustHandle: Sendable {
    /// Safe: OpenSSL locks the store while it verifies a certificate.
    nonisolated(unsafe) let pointer: OpaquePointer

    init(_ pem: PEM) throws(TLSSetupError) {
        var report = SetupReport()
        // Safe: the C function reads the bytes only during the call.
        guard
            let made = unsafe runloops_tls_trust(pem.bytes, pem.bytes.count, &report.problem, &report.words)
        else { throw report.error(about: pem.source) }
        unsafe pointer = made
    }

    deinit { unsafe runloops_tls_free_trust(pointer) }
}

/// The owner of an OpenSSL session that a client may resume.
///
/// > Thread safety: only the thread that has taken the session from its ``SessionStore``.
@safe
final class SessionHandle: Sendable {
    /// Safe: OpenSSL uses atomics to count references, and only one stream offers this session.
    nonisolated(unsafe) let pointer: UnsafeMutableRawPointer

    init(_ pointer: UnsafeMutableRawPointer) { unsafe self.pointer = pointer }

    deinit { unsafe runloops_tls_free_session(pointer) }
}

/// A problem during the setup of TLS, which the C code reports here.
struct SetupReport {
    var problem = runloops_tls_no_problem
    var words = [CChar](repeating: 0, count: Int(runloops_tls_text))

    /// Returns the error for this problem.
    ///
    /// - Parameter source: The file or the setting that has the problem.
    /// - Returns: The error.
    func error(about source: String) -> TLSSetupError {
        let reason: TLSSetupError.Reason =
            switch problem {
            case runloops_tls_no_certificate: .noCertificate
            case runloops_tls_no_key: .noKey
            case runloops_tls_wrong_passphrase: .wrongPassphrase
            case runloops_tls_mismatch: .keyMismatch
            case runloops_tls_weak: .tooWeak
            case runloops_tls_bad_setting: .badProtocolName
            default: .failed
            }
        let text = words.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return TLSSetupError(reason, source: source, details: String(decoding: text, as: UTF8.self))
    }
}
