import Glibc
import RunLoops
import TLSStreams
import TestSupport
import Testing

/// Identities and trust as values.
@Suite struct TLSValueTests {
    @Test func `a file that cannot be read is an error of the value, by name`() throws {
        let path = Certificates.path
        func check(_ make: () throws(SystemError) -> Void) {
            do throws(SystemError) {
                try make()
                Issue.record("the file is missing")
            } catch {
                #expect(error == SystemError(call: "open", code: ENOENT))
                #expect("\(error)".contains(path("missing.pem")))
            }
        }
        check { () throws(SystemError) in
            _ = try TLSIdentity(certificateFile: path("missing.pem"), keyFile: path("server.key"))
        }
        check { () throws(SystemError) in
            _ = try TLSIdentity(certificateFile: path("server.pem"), keyFile: path("missing.pem"))
        }
        check { () throws(SystemError) in _ = try TLSTrust(file: path("missing.pem")) }
        #expect(throws: SystemError(call: "open", code: EINVAL)) { try TLSTrust(file: "a\0b") }
        #expect(throws: SystemError(call: "read", code: EFBIG)) { try TLSTrust(file: "/dev/zero") }
    }

    @Test func `identities and trust are equal if their texts are, and show no key`() throws {
        let path = Certificates.path
        let identity = try TLSIdentity(
            certificateFile: path("server.pem"), keyFile: path("server.key"), passphrase: "secret")
        let (certificates, key) = try (Files.read(path("server.pem")), Files.read(path("server.key")))
        #expect(identity == TLSIdentity(certificates: certificates, key: key, passphrase: "secret"))
        #expect(identity != TLSIdentity(certificates: certificates, key: key))
        #expect(identity != TLSIdentity(certificates: certificates, key: certificates, passphrase: "secret"))
        #expect(Set([identity, identity]).count == 1)
        #expect(try TLSTrust(file: path("ca.pem")) == TLSTrust(certificates: Files.read(path("ca.pem"))))
        #expect(try TLSTrust(file: path("ca.pem")) != .system)
        var options = TLSClientContext.Options()
        options.identity = identity
        var dumped = ""
        dump(identity, to: &dumped)
        dump(options, to: &dumped)
        for text in ["\(identity)", String(reflecting: identity), "\(options)", dumped] {
            #expect(text.contains(path("server.pem")))
            #expect(!text.contains("secret") && !text.contains("PRIVATE") && !text.contains("bytes"))
        }
    }
}
