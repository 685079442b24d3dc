import Foundation
import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Connections over TLS that end without TLS's closing notice, as anyone on the path can end them.
@Suite struct CutBodyTests {
    /// A server that makes a certificate, prints its port, and answers each connection once.
    ///
    /// The path of a request selects the answer, and whether the notice is sent.
    private static let server = """
        import os, socket, ssl, subprocess, sys
        d = sys.argv[1]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", d + "/k", "-out", d + "/c", "-days",
            "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], stderr=subprocess.DEVNULL, check=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(d + "/c", d + "/k")
        s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(8)
        open(d + "/port.new", "w").write(str(s.getsockname()[1]))
        os.rename(d + "/port.new", d + "/port")
        while True:
            t = context.wrap_socket(s.accept()[0], server_side=True)
            path = t.recv(65536).split(b" ")[1].decode()
            head = {"plain": "", "length": "Content-Length: 13\\r\\n", "chunks": "Transfer-Encoding: chunked\\r\\n"}[path.split("-")[1]]
            body = "d\\r\\nallow: alice\\n\\r\\n0\\r\\n\\r\\n" if "chunks" in path else "allow: alice\\n"
            t.sendall(("HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n" + head + "\\r\\n" + body).encode())
            if "notice" in path: t.unwrap().close()
            else: os.close(t.detach())
        """

    // Guarantees: A body that is cut, or whose compression or chunks are broken, is never reported as complete.
    @Test func `a body that ends with its connection is complete only with TLS's closing notice`() throws {
        let directory = try ScratchDirectory()
        let path = directory.path
        let tool = try Tool("python3", ["-c", CutBodyTests.server, path])
        defer { tool.stop() }
        waitUntil("the server listens") { FileManager.default.fileExists(atPath: path + "/port") }
        let port = try String(contentsOfFile: path + "/port", encoding: .utf8)
        try onLoopThread { loop in
            let client = try HTTPClient(
                mode: .network, options: .local { $0.trust = try TLSTrust(file: path + "/c") })
            for (kind, isComplete) in [
                ("cut-plain", false), ("notice-plain", true), ("cut-length", true), ("cut-chunks", true),
            ] {
                let outcome = client.fetch("https://localhost:\(port)/\(kind)")
                #expect(outcome.text == "allow: alice\n", "\(kind)")
                if isComplete {
                    #expect(outcome.error == nil, "\(kind)")
                } else if outcome.error?.reason == .connectionLost {
                    continue
                } else {
                    Issue.record("\(kind): \(outcome.error.map { "\($0)" } ?? "complete")")
                }
            }
            client.invalidate()
        }
        try directory.remove()
    }
}
