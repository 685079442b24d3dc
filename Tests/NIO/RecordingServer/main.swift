import Glibc
import HTTPServers
import RunLoops
import Streams

/// Writes a line to standard output in one call.
func record(_ line: String) {
    var line = line + "\n"
    // Safe: the kernel reads the bytes during the call.
    line.withUTF8 { bytes in _ = unsafe write(STDOUT_FILENO, bytes.baseAddress, bytes.count) }
}

func hex(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

/// What has come of a body: the number of its bytes, and the first ones.
struct Body {
    var count = 0
    var first: [UInt8] = []

    mutating func add(_ bytes: [UInt8]) {
        count += bytes.count
        first += bytes.prefix(256 - first.count)
    }
}

/// Records each header and each end of a body, as .ci/fuzz-http expects it, and answers with 200.
func serve() throws {
    var options = HTTPServer.Options()
    options.connectionLimit = nil
    options.connectionLimitPerPeer = nil
    let server = try HTTPServer(.tcp(host: "127.0.0.1", port: 0), options: options)
    var bodies: [HTTPExchange: Body] = [:]

    func port(_ exchange: HTTPExchange) -> UInt16 { exchange.peerAddress.port ?? 0 }

    func recordHeader(_ exchange: HTTPExchange) {
        let request = exchange.request
        record("H \(port(exchange)) \(request.method.rawValue) \(hex(request.target.utf8))")
        for field in request.headerFields {
            record("F \(port(exchange)) \(hex(field.name.rawName.utf8)) \(hex(field.value.utf8)) ")
        }
    }

    server.onHeader { exchange in
        recordHeader(exchange)
        bodies[exchange] = Body()
        exchange.onEnd { exchange, _ in bodies[exchange] = nil }
        // Half of the bodies are streamed, and half collected.
        if port(exchange) % 2 == 0 { return }
        exchange.onData { exchange, bytes in
            bodies[exchange]?.add(
                (0..<bytes.byteCount).map { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) })
        }
    }
    try RunLoop.current.add(server, forMode: .default) { exchange in
        // What Tests/Fuzzing/HTTP/socket_peer.py asks for; no input of the fuzzer has this target.
        if exchange.request.path == "/echo" {
            exchange.upgradeToWebSocket { socket in
                socket.onMessage { socket, message in
                    switch message {
                    case .text(let text): socket.send(text)
                    case .binary(let bytes): socket.send(bytes)
                    @unknown default: break
                    }
                }
            }
            return
        }
        if bodies[exchange] == nil { recordHeader(exchange) }
        var body = bodies[exchange] ?? Body()
        body.add(exchange.request.body)
        record("E \(port(exchange)) \(body.count) \(hex(body.first))")
        exchange.respond(.text("ok"))
    }
    record("L \(server.localAddress.port ?? 0)")
    RunLoop.current.run()
}

try serve()
