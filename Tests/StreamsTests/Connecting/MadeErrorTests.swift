import Glibc
import Streams
import Testing

/// Errors that a user's tests make describe themselves as those of connections do.
@Suite struct MadeErrorTests {
    @Test func `an error of TLS`() {
        let error = TLSError(.certificateExpired, isFromPeer: true, details: "alert 45")
        #expect(error.reason == .certificateExpired && error.isFromPeer)
        #expect("\(error)" == "the certificate has expired, says the peer: alert 45")
        #expect("\(TLSError(.noCommonVersion))" == "no common version of TLS")
        #expect("\(TLSError.Reason.notTLS)" == "the peer does not speak TLS")
    }

    @Test func `an error of a look-up`() {
        let error = ResolutionError(host: "none.example", code: EAI_NONAME, message: "not known")
        #expect("\(Connection.EndReason.unresolved(error))".contains("not known"))
    }
}
