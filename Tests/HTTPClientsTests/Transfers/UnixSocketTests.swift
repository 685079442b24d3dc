import Glibc
import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Transfers over a Unix socket.
@Suite struct UnixSocketTests {
    @Test func `a client with the path of a Unix socket sends all requests there`() throws {
        let directory = try ScratchDirectory()
        let path = directory.path + "/socket"
        let server = try Server(path: path) { exchange in
            if exchange.path == "/first" {
                return try exchange.answer("302 Found", "Location: http://other.invalid/second")
            }
            try exchange.answer("200 OK", "", Array("\(exchange.field("Host") ?? "") \(exchange.path)".utf8))
        }
        try onLoopThread { loop in
            let client = try HTTPClient(
                mode: .network,
                options: .local {
                    $0.unixSocketPath = path
                    $0.proxy = .url("http://proxy.invalid:1")
                })
            #expect(client.fetch("http://localhost/containers/json").text == "localhost /containers/json")
            #expect(client.fetch("http://a.invalid:8080/").text == "a.invalid:8080 /")
            #expect(client.fetch("http://localhost/first").text == "other.invalid /second")
            client.invalidate()
        }
        server.stop()
        try directory.remove()
    }

    @Test func `a socket that is not there is an error of the transfer`() throws {
        try onLoopThread { loop in
            let options = HTTPClient.Options.local { $0.unixSocketPath = "/nowhere/socket" }
            let client = try HTTPClient(mode: .network, options: options)
            let error = client.fetch("http://localhost/").error
            #expect(error?.reason == .notConnected, "\(error.map { "\($0)" } ?? "complete")")
            client.invalidate()
        }
    }

    @Test func `a path that cannot be one of a socket makes no client`() throws {
        for (path, code) in [
            ("/" + String(repeating: "x", count: 107), ENAMETOOLONG), ("", EINVAL), ("/a\0b", EINVAL),
        ] {
            try onLoopThread { _ in
                #expect(throws: SystemError(call: "connect", code: code)) {
                    try HTTPClient(options: .local { $0.unixSocketPath = path })
                }
            }
        }
    }
}
