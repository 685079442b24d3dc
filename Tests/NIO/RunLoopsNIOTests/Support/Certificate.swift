import TLSStreams

enum Certificate {
    /// A certificate for `localhost` that has signed itself, and its key; they protect nothing.
    private static let text = """
        -----BEGIN CERTIFICATE-----
        MIIBlTCCATugAwIBAgIUdOl03xlXYi2JU5HH8bmjWn56/qowCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyNzEwMzkwN1oYDzIxMjYxMTAz
        MTAzOTA3WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAAQPmhSBRzU4Mo0MgtVxyaLmglpgTmnTvFxaQ18qkaFsOT45WscBp61C
        PCDWmEHg8eM1f29rgMt7My/MfHO9KktGo2kwZzAdBgNVHQ4EFgQUOpqR9B3puH0u
        21lgVd+uSZOiqBUwHwYDVR0jBBgwFoAUOpqR9B3puH0u21lgVd+uSZOiqBUwDwYD
        VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
        SAAwRQIhAJs73aMIwyZ8txczMBEU323Fzt4iLK7zOb4SoCzdR7f1AiBEgAu/f4Br
        yeHAidOKy3LCXf5RpMhq9ve9ZD+ssUcBiQ==
        -----END CERTIFICATE-----
        """
    private static let keyText = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgme/hvmWd5ZtTG/Bc
        VBJ9s4ye2ZlWy3DA0w9JyVD9pRKhRANCAAQPmhSBRzU4Mo0MgtVxyaLmglpgTmnT
        vFxaQ18qkaFsOT45WscBp61CPCDWmEHg8eM1f29rgMt7My/MfHO9KktG
        -----END PRIVATE KEY-----
        """

    /// The certificate, in PEM.
    static var chain: [UInt8] { Array(text.utf8) }
    /// The key, in PEM.
    static var key: [UInt8] { Array(keyText.utf8) }

    /// The contexts that the comparisons use.
    struct Shared: Sendable {
        let server: TLSServerContext
        let client: TLSClientContext
    }

    static let shared: Shared = {
        do { return Shared(server: try server(), client: try client()) } catch {
            fatalError("the certificate can be used: \(error)")
        }
    }()

    static func server(_ protocols: [String] = []) throws -> TLSServerContext {
        var options = TLSServerContext.Options()
        options.applicationProtocols = protocols
        return try TLSServerContext(TLSIdentity(certificates: chain, key: key), options: options)
    }

    static func client(_ protocols: [String] = []) throws -> TLSClientContext {
        var options = TLSClientContext.Options()
        options.applicationProtocols = protocols
        options.trust = TLSTrust(certificates: chain)
        return try TLSClientContext(options: options)
    }
}
