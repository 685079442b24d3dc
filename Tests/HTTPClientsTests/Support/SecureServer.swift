import Foundation
import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// A server with TLS in a process of its own, which answers one request on each connection.
///
/// The path of a request selects the answer.
struct SecureServer {
    let directory: ScratchDirectory
    let port: Int
    private let tool: Tool

    /// Makes a certificate, and starts the server.
    ///
    /// - Parameter frames: The kind of the frames that the server sends with HTTP/2, or `hello` for messages during the hand-shake;
    ///   nil for HTTP/1.1.
    /// - Throws: An error if a file or a program is missing.
    init(frames: String? = nil) throws {
        directory = try ScratchDirectory()
        if let frames { try Data(frames.utf8).write(to: URL(filePath: directory.path + "/kind")) }
        tool = try Tool("python3", ["-c", SecureServer.program, directory.path])
        let path = directory.path
        waitUntil("the server listens") { FileManager.default.fileExists(atPath: path + "/port") }
        port = try #require(Int(String(contentsOfFile: path + "/port", encoding: .utf8)))
    }

    func stop() throws {
        tool.stop()
        try directory.remove()
    }

    func url(_ path: String) -> String { "https://localhost:\(port)\(path)" }

    var options: HTTPClient.Options {
        get throws { try .local { $0.trust = try TLSTrust(file: directory.path + "/c") } }
    }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: directory.path + "/" + name) }

    /// Lets the server send what it has prepared.
    func go() throws { try Data().write(to: URL(filePath: directory.path + "/go")) }

    private static let program = #"""
        import ctypes, os, socket, ssl, struct, subprocess, sys, time, _ssl
        d = sys.argv[1]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", d + "/k", "-out", d + "/c", "-days",
            "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], stderr=subprocess.DEVNULL, check=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(d + "/c", d + "/k")
        shared = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        shared.load_cert_chain(d + "/c", d + "/k")
        shared.set_alpn_protocols(["h2"])
        library = ctypes.CDLL(_ssl.__file__)
        def call(name, *arguments, result=ctypes.c_void_p):
            function = library[name]
            function.restype = result
            return function(*[ctypes.c_void_p(a) if type(a) is int and a > 1 << 20 else a for a in arguments])
        def messages(t, count, kind):
            "The records of messages of TLS itself."
            tls = ctypes.c_void_p.from_address(id(t._sslobj) + 24).value
            wire, memory = call("SSL_get_wbio", tls), call("BIO_new", call("BIO_s_mem"))
            call("BIO_up_ref", wire)
            call("SSL_set0_wbio", tls, memory)
            for _ in range(count):
                call("SSL_new_session_ticket", tls) if kind == "tickets" else call("SSL_key_update", tls, 0)
                call("SSL_do_handshake", tls)
            size = call("BIO_ctrl_pending", memory, result=ctypes.c_size_t)
            room = ctypes.create_string_buffer(size)
            call("BIO_read", memory, ctypes.addressof(room), size)
            call("SSL_set0_wbio", tls, wire)
            return room.raw
        def frame(kind, flags, stream, payload=b""):
            return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload
        frames = {"empty": frame(0, 0, 1), "priority": frame(2, 0, 1, b"\0\0\0\0\1"), "window": frame(8, 0, 0, b"\0\0\0\1"),
            "unknown": frame(0xbb, 0, 1), "service": frame(10, 0, 0, b"\0\0h2=\":443\"")}
        def take(t, count):
            taken = b""
            while len(taken) < count: taken += t.recv(count - len(taken)) or sys.exit()
            return taken
        def wait():
            open(d + "/ready", "w").close()
            while not os.path.exists(d + "/go"): time.sleep(.002)
        def serve(plain):
            if os.path.exists(d + "/kind") and open(d + "/kind").read() == "hello":
                # Requests for a hand-shake, 4,096 in a record, which OpenSSL skips during one.
                plain.recv(65536)
                plain.sendall((b"\x16\3\3\x40\0" + bytes(16384)) * 16)
                while plain.recv(65536): pass
                return
            t = (shared if os.path.exists(d + "/kind") else context).wrap_socket(plain, server_side=True)
            if t.selected_alpn_protocol() == "h2":
                t.sendall(frame(4, 0, 0))
                take(t, 24)
                head = b"000000000"
                while head[3] != 1:
                    head = take(t, 9)
                    take(t, int.from_bytes(head[:3], "big"))
                t.sendall(frame(4, 1, 0))
                kind = open(d + "/kind").read()
                flood = frames[kind] * ((4 << 20) // len(frames[kind]))
                wait()
                first = frame(1, 4, 1, b"\x88")
                t.sendall(first + flood if kind == "empty" else flood + first)
                t.sendall(frame(0, 1, 1, b"Hello"))
                while t.recv(65536): pass
                return
            path = t.recv(65536).split(b" ")[1].decode()
            if path in ("/updates", "/tickets"):
                flood = messages(t, 30000 if path == "/updates" else 4000, path[1:])
                wait()
                plain_send(t, flood)
            if path.startswith("/to-"):
                t.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://localhost:" + path[4:].encode() + b"/\r\nContent-Length: 0\r\n\r\n")
            elif path == "/version":
                t.sendall(b"HTTP/2 200 OK\r\nContent-Length: 5\r\n\r\nHello")
            else:
                t.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello")
            while t.recv(65536): pass
        def plain_send(t, data):
            sent = 0
            while sent < len(data): sent += os.write(t.fileno(), data[sent:])
        s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(8)
        open(d + "/port.new", "w").write(str(s.getsockname()[1]))
        os.rename(d + "/port.new", d + "/port")
        while True:
            connection = s.accept()[0]
            try: serve(connection)
            except OSError: pass
        """#
}
