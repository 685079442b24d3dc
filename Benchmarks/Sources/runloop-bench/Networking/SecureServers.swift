internal import CLoad
internal import CThreadControl
internal import CWeb
internal import CYardsticks
internal import Foundation
internal import Glibc
internal import RunLoops
internal import Streams
internal import TLSStreams

/// A TLS server that sends a file on one port, and receives bytes on another.
protocol SecureServer: AnyObject {
    /// The number of the thread or process to pin.
    var number: ThreadNumber { get }
    /// The port on which the server sends the file.
    var downloadPort: UInt16 { get }
    /// The port on which the server receives and discards bytes.
    var uploadPort: UInt16 { get }
    func stop()
}

/// A certificate, made by the `openssl` program, and a file to send, in a new directory.
final class SecureFiles {
    let directory = FileManager.default.temporaryDirectory.path + "/runloop-bench-" + UUID().uuidString
    static let size = 32 << 20

    var certificate: String { directory + "/certificate.pem" }
    var key: String { directory + "/key.pem" }
    /// The contents of the file to send.
    let body = [UInt8](repeating: 0x61, count: SecureFiles.size)

    init() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data(body).write(to: URL(filePath: directory + "/body"))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout",
            key, "-out", certificate, "-subj", "/CN=localhost", "-days", "2",
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 {
            throw Miscount(expected: 0, found: Int(process.terminationStatus))
        }
    }

    func remove() throws { try FileManager.default.removeItem(atPath: directory) }
}

/// A TLS server on connections of this package.
final class StreamsSecureServer: SecureServer {
    private let thread: RunLoopThread
    let number: ThreadNumber
    let downloadPort: UInt16
    let uploadPort: UInt16

    init(_ files: SecureFiles) throws {
        let context = try TLSServerContext(
            TLSIdentity(certificateFile: files.certificate, keyFile: files.key))
        thread = try RunLoopThread(name: "tls, streams")
        number = try thread.prepare()
        let piece = Array(files.body.prefix(65_536))
        (downloadPort, uploadPort) = try thread.runLoop.performAndWait {
            let sending = try Listener(.tcp(host: "127.0.0.1", port: 0))
            try RunLoop.current.add(sending, forMode: .default) { accepted in
                let connection = Connection(accepted, tls: context)
                var left = SecureFiles.size
                let send = { (connection: Connection) in
                    while left > 0 {
                        left -= piece.count
                        if !connection.write(piece) { return }
                    }
                    connection.closeAfterWriting()
                }
                connection.onDrained(send)
                connection.onFrame(.lines()) { connection, line in if line.isEmpty { send(connection) } }
                Self.add(connection)
            }
            let receiving = try Listener(.tcp(host: "127.0.0.1", port: 0))
            try RunLoop.current.add(receiving, forMode: .default) { accepted in
                let connection = Connection(accepted, tls: context)
                connection.onReceive { _, bytes in bytes.byteCount }
                Self.add(connection)
            }
            return (sending.localAddress.port ?? 0, receiving.localAddress.port ?? 0)
        }
    }

    private static func add(_ connection: Connection) {
        do { try RunLoop.current.add(connection, forMode: .default) } catch { fatalError("\(error)") }
    }

    func stop() {
        thread.stop()
        thread.join()
    }
}

/// `openssl s_server`, with one process for each port.
final class OpenSSLServer: SecureServer {
    private let sending = Process()
    private let receiving = Process()
    let downloadPort: UInt16
    let uploadPort: UInt16

    init(_ files: SecureFiles) throws {
        downloadPort = try OpenSSLServer.freePort()
        uploadPort = try OpenSSLServer.freePort()
        for (process, port, arguments) in [(sending, downloadPort, ["-HTTP"]), (receiving, uploadPort, [])] {
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.currentDirectoryURL = URL(filePath: files.directory)
            process.arguments =
                [
                    "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-cert", files.certificate, "-key",
                    files.key, "-quiet",
                ] + arguments
            process.standardInput = Pipe()
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
        }
        for port in [downloadPort, uploadPort] {
            let end = bench_now() + 10_000_000_000
            while bench_now() < end {
                let socket = bench_ping_connect(port)
                if socket >= 0 {
                    close(socket)
                    break
                }
                bench_sleep(10_000_000)
            }
        }
    }

    private static func freePort() throws -> UInt16 {
        let listener = bench_ping_listen(0)
        if listener < 0 { throw SystemError(call: "listen", code: errno) }
        defer { close(listener) }
        return bench_ping_port(listener)
    }

    /// The process that shakes hands and sends.
    var number: ThreadNumber { sending.processIdentifier }

    /// The process that receives.
    var receiver: ThreadNumber { receiving.processIdentifier }

    func stop() {
        for process in [sending, receiving] {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }
}
