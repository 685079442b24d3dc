internal import CSecureStreams
internal import Glibc
internal import RunLoops
internal import Streams

/// The filter that encrypts and decrypts the bytes between a connection and its socket.
///
/// OpenSSL reads from the socket itself. However, it writes encrypted bytes into memory, and the filter then sends these bytes
/// together. OpenSSL never calls the connection, and the connection calls its handlers only after OpenSSL has returned.
///
/// > Thread safety: the thread of the connection only.
@safe
final class TLSFilter: StreamFilter {
    /// The OpenSSL context of ``stream``.
    ///
    /// The filter holds the context, so that the context outlives the stream.
    private let context: ContextHandle
    /// The OpenSSL stream (`SSL`); nil once the connection has ended.
    private var stream: OpaquePointer?
    private var descriptor: CInt = -1

    /// The sessions that a client may resume, and the name of the server; nil for a server's filter.
    private let resumption: (sessions: SessionStore, name: String)?

    /// The session that the client offers to resume; nil if there is none, and after the hand-shake.
    private var offered: SessionHandle?

    /// The results of the hand-shake; nil before the hand-shake is complete.
    private(set) var details: TLSDetails?

    private(set) var holdsInput = false

    private(set) var flushedCount = 0

    var applicationProtocol: String? { details?.applicationProtocol }

    /// The end of the peer's stream, or the failure to receive more; nil until one of the two has happened.
    ///
    /// The connection first gets the bytes that were received earlier, and then this result.
    private var end: StreamReceipt?

    /// True if this side has ended its stream.
    private var hasEnded = false

    /// True if receiving or the hand-shake has failed.
    ///
    /// An alert that tells the peer about the failure may then be waiting to be sent.
    private var hasFailed = false

    /// Makes a server's filter.
    init(_ context: ContextHandle) {
        self.context = context
        resumption = nil
        unsafe stream = TLSFilter.makeStream(context)
    }

    /// Makes a client's filter for a connection to the server with a given name.
    ///
    /// If the text cannot be a name in a certificate, the hand-shake fails before it begins.
    init(_ client: TLSClientContext, _ serverName: String) {
        context = client.handle
        let stream = unsafe TLSFilter.makeStream(context)
        unsafe self.stream = stream
        guard let name = ServerName(serverName)?.text, unsafe runloops_tls_expect(stream, name) else {
            resumption = nil
            end = .failed(
                .tls(TLSError(.nameMismatch, details: "no certificate can have the name of the server")))
            return
        }
        resumption = (client.sessions, name)
        // Safe: OpenSSL retains the session.
        offered = client.sessions.take(name)
        if let offered { unsafe runloops_tls_offer_session(stream, offered.pointer) }
    }

    deinit { unsafe runloops_tls_free_stream(stream) }

    private static func makeStream(_ context: ContextHandle) -> OpaquePointer {
        guard let stream = unsafe runloops_tls_stream(context.pointer) else {
            fatalError("no memory for a stream of TLS")
        }
        return unsafe stream
    }

    func begin(on descriptor: CInt) {
        self.descriptor = descriptor
        unsafe runloops_tls_set_socket(stream, descriptor)
    }

    // MARK: - The hand-shake

    func open() -> StreamOpening {
        guard let stream = unsafe stream else { return .waits(isBlocked: false) }
        if case .failed(let reason) = end { return .failed(reason) }
        var status = unsafe runloops_tls_shake_hands(stream)
        holdsInput = status == runloops_tls_goes_on
        if case .failed(let reason) = flush() {
            // Nothing can be sent, but before the peer closed its socket, it may have sent an alert. Another step of the hand-shake
            // reads the alert, which is a better reason than the failure to send.
            if status == runloops_tls_waits || status == runloops_tls_goes_on {
                status = unsafe runloops_tls_shake_hands(stream)
            }
            switch status {
            case runloops_tls_waits, runloops_tls_goes_on, runloops_tls_done: return .failed(reason)
            default: break
            }
        }
        switch status {
        case runloops_tls_done:
            let details = unsafe TLSDetails(stream)
            self.details = details
            // With TLS 1.2, the resumed session returns to the store. With TLS 1.3, a session is resumed only once, and the server
            // sends a new one.
            if details.isResumed && details.version == .tls12, let resumption, let offered {
                resumption.sessions.keep(offered, for: resumption.name)
            }
            offered = nil
            keepSession()
            holdsInput = unsafe runloops_tls_has_pending(stream)
            return .opened
        case runloops_tls_waits, runloops_tls_goes_on: return .waits(isBlocked: holdsOutput)
        default: return .failed(failure(status))
        }
    }

    /// Records a failure of OpenSSL, and returns the end reason for it.
    ///
    /// - Parameter status: The status that OpenSSL's last call returned.
    /// - Returns: The end reason.
    private func failure(_ status: runloops_tls_status) -> Connection.EndReason {
        hasFailed = true
        switch status {
        case runloops_tls_broken: return unsafe Connection.reason(runloops_tls_error(stream), "recv")
        case runloops_tls_failed: return unsafe .tls(TLSError(runloops_tls_failure(stream)))
        case runloops_tls_unproductive:
            return .tls(
                TLSError(
                    .other,
                    details: details == nil
                        ? "the peer has sent more bytes than a hand-shake takes"
                        : "the peer has sent more than \(runloops_tls_unproductive_limit) bytes of records without data"
                ))
        case runloops_tls_unread: return .limit(.output(Int(runloops_tls_answer_limit)))
        case runloops_tls_ended where details == nil:
            return .tls(TLSError(.other, isFromPeer: true, details: "the peer has ended the hand-shake"))
        default: return .tls(TLSError(.truncated))
        }
    }

    // MARK: - Receiving

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> StreamReceipt {
        if let end {
            holdsInput = false
            return end
        }
        guard let stream = unsafe stream else { return .nothing }
        var count = 0
        // Safe: the C function writes at most as many bytes into the buffer as it has room for.
        let status = unsafe runloops_tls_receive(stream, buffer.baseAddress, buffer.count, &count)
        keepSession()
        switch status {
        case runloops_tls_done: holdsInput = unsafe runloops_tls_has_pending(stream)
        case runloops_tls_waits: holdsInput = false
        case runloops_tls_goes_on: holdsInput = true
        default:
            let end: StreamReceipt = status == runloops_tls_ended ? .end : .failed(failure(status))
            self.end = end
            holdsInput = count > 0
            if count == 0 { return end }
        }
        return count > 0 ? .bytes(count) : .nothing
    }

    /// Stores the session that the server has sent, if there is one, so that a later connection can resume it.
    private func keepSession() {
        guard let resumption, let session = unsafe runloops_tls_take_session(stream) else { return }
        unsafe resumption.sessions.keep(SessionHandle(session), for: resumption.name)
    }

    // MARK: - Sending

    func take(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let stream = unsafe stream else { return 0 }
        // Safe: the C function reads the bytes only during the call.
        return unsafe runloops_tls_send(stream, bytes.baseAddress, bytes.count)
    }

    var holdsOutput: Bool { heldCount > 0 }

    var heldCount: Int {
        guard let stream = unsafe stream else { return 0 }
        return unsafe runloops_tls_unsent(stream)
    }

    func flush() -> StreamSending {
        guard let stream = unsafe stream, holdsOutput else { return .bytes(0) }
        let sent = unsafe runloops_tls_flush(stream)
        let code = errno
        if sent > 0 {
            flushedCount += sent
            return .bytes(0)
        }
        if sent == 0 { return .blocked }
        unsafe runloops_tls_discard(stream)
        // The bytes cannot be sent. There are two cases in which this is not reported as a failure. First, `receive(into:)` still
        // has a failure to return, which is the better reason, because the failure to send concerns only the alert about it.
        // Second, this side has ended its stream: a peer that has closed its socket needs no notice of that.
        if case .failed = end { return .bytes(0) }
        return hasEnded ? .bytes(0) : .failed(alert() ?? Connection.reason(code, "send"))
    }

    /// Returns an end reason for the alert that the peer sent before it closed its socket; nil if there is no such alert.
    private func alert() -> Connection.EndReason? {
        if details == nil { return nil }
        var rest = [UInt8](repeating: 0, count: 16_384)
        for _ in 0..<64 {
            switch unsafe rest.withUnsafeMutableBytes({ unsafe receive(into: $0) }) {
            case .bytes: continue
            case .nothing where holdsInput: continue
            case .failed(.tls(let error)) where error.isFromPeer: return .tls(error)
            default: return nil
            }
        }
        return nil
    }

    func endOutput() {
        hasEnded = true
        unsafe runloops_tls_end(stream)
    }

    // MARK: - The end

    func close(isComplete: Bool) {
        guard let stream = unsafe stream else { return }
        if isComplete && !hasEnded && !holdsOutput && details != nil { endOutput() }
        if hasEnded || hasFailed { _ = flush() }
        if hasFailed { runloops_tls_drain(descriptor) }
        unsafe runloops_tls_free_stream(stream)
        unsafe self.stream = nil
    }
}

extension TLSError {
    /// Creates the error that OpenSSL has reported.
    fileprivate init(_ failure: runloops_tls_failure) {
        let cause: Reason =
            switch failure.cause {
            case runloops_tls_expired: .certificateExpired
            case runloops_tls_not_yet_valid: .certificateNotYetValid
            case runloops_tls_unknown_issuer: .unknownIssuer
            case runloops_tls_name_mismatch: .nameMismatch
            case runloops_tls_revoked: .certificateRevoked
            case runloops_tls_no_peer_certificate: .certificateRequired
            case runloops_tls_bad_certificate: .badCertificate
            case runloops_tls_version: .noCommonVersion
            case runloops_tls_no_cipher: .noCommonCipher
            case runloops_tls_no_protocol: .noCommonApplicationProtocol
            case runloops_tls_unknown_name: .unknownServerName
            case runloops_tls_not_tls: .notTLS
            default: .other
            }
        var words = failure.words
        let text = unsafe withUnsafeBytes(of: &words) { bytes in
            // Safe: the C code has ended the text with a zero.
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        self.init(cause, isFromPeer: failure.is_from_peer, details: text)
    }
}
