import Foundation
import Glibc
import TLSStreams
import TestSupport

/// Certificates that the `openssl` program has made for the tests of this process, in their own directory.
struct Certificates: Sendable {
    /// The identities, each of which consists of a certificate and a key with the same name.
    enum Name: String {
        /// For `localhost` and `127.0.0.1`.
        case server
        /// For `localhost`, like `server`.
        case second
        /// For `other.test` and `*.many.test`.
        case other
        case expired
        case future
        /// For `localhost`, from an issuer that no client trusts.
        case foreign
        /// For the client `alice`.
        case client
    }

    private let directory: ScratchDirectory

    /// Made at the first use, and removed when the process exits.
    static let shared: Certificates = {
        do {
            let made = try Certificates()
            atexit { try? Certificates.shared.directory.remove() }
            return made
        } catch { fatalError("the certificates cannot be made: \(error)") }
    }()

    private init() throws {
        directory = try ScratchDirectory()
        let script = """
            set -e
            cd \(directory.path)
            key() { openssl ecparam -name prime256v1 -genkey -noout -out $1.key; }
            authority() { key $1; openssl req -x509 -new -key $1.key -out $1.pem -subj "/CN=$1" -days 3650; }
            touch index && echo 01 > serial
            printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=index\\nserial=serial\\nnew_certs_dir=.\\ndefault_md=sha256\\nunique_subject=no\\npolicy=p\\n[p]\\ncommonName=supplied\\n' > config
            issue() {
                key $1
                openssl req -new -key $1.key -out $1.csr -subj "/CN=$3"
                printf "subjectAltName=$4" > names
                openssl ca -batch -config config -notext -cert $2.pem -keyfile $2.key -in $1.csr -out $1.pem \
                    -extfile names -startdate $5 -enddate $6
            }
            authority ca
            authority stranger
            issue server ca server DNS:localhost,IP:127.0.0.1 20200101000000Z 20990101000000Z
            issue second ca second DNS:localhost 20200101000000Z 20990101000000Z
            issue other ca other 'DNS:other.test,DNS:*.many.test' 20200101000000Z 20990101000000Z
            issue expired ca expired DNS:localhost 20200101000000Z 20210101000000Z
            issue future ca future DNS:localhost 20980101000000Z 20990101000000Z
            issue foreign stranger foreign DNS:localhost 20200101000000Z 20990101000000Z
            issue client ca alice DNS:alice 20200101000000Z 20990101000000Z
            openssl ec -in server.key -aes128 -passout pass:secret -out locked.key
            openssl req -x509 -newkey rsa:1024 -nodes -keyout weak.key -out weak.pem -subj /CN=weak -days 3650
            """
        let tool = try Tool("bash", ["-c", script])
        _ = tool.bytes()
        guard tool.exitCode == 0 else { throw CocoaError(.fileNoSuchFile) }
    }

    static func path(_ file: String) -> String { shared.directory.path + "/" + file }

    /// The path of the certificate of the authority.
    static var authority: String { path("ca.pem") }

    /// The identity of the server, for code that cannot throw.
    static let valid: TLSIdentity = {
        do { return try identity(.server) } catch { fatalError("the certificates cannot be read: \(error)") }
    }()

    static func identity(_ name: Name) throws -> TLSIdentity {
        try TLSIdentity(
            certificateFile: path(name.rawValue + ".pem"), keyFile: path(name.rawValue + ".key"))
    }

    static func server(
        _ name: Name = .server, _ change: (inout TLSServerContext.Options) throws -> Void = { _ in }
    ) throws -> TLSServerContext {
        var options = TLSServerContext.Options()
        try change(&options)
        return try TLSServerContext(identity(name), options: options)
    }

    /// A client context that trusts the tests' authority.
    static func client(
        _ change: (inout TLSClientContext.Options) throws -> Void = { _ in }
    ) throws -> TLSClientContext {
        var options = TLSClientContext.Options()
        options.trust = try TLSTrust(file: authority)
        try change(&options)
        return try TLSClientContext(options: options)
    }
}
