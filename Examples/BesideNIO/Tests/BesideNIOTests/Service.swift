import Foundation

/// A program of the package in a new process, which is killed when this object is destroyed.
final class Service {
    private let process = Process()
    let port: UInt16

    struct Failure: Error { let text: String }

    /// Starts the program, and waits until it listens.
    init(_ name: String) throws {
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: name)
        let output = Pipe()
        process.executableURL = program
        process.environment = ["PORT": "0", "DATABASE": ":memory:"]
        process.standardOutput = output
        try process.run()
        var text = ""
        while !text.contains("\n") {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { throw Failure(text: "the service has ended: \(text)") }
            text += String(decoding: data, as: UTF8.self)
        }
        guard let port = text.split(separator: ":").last.flatMap({ UInt16($0.dropLast()) }) else {
            throw Failure(text: "no port in \(text)")
        }
        self.port = port
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// Waits until the service accepts no more connections.
    func waitUntilRefused() {
        while (try? Client(port)) != nil { usleep(1_000) }
    }

    /// Waits for the end of the process, and returns the exit code.
    func wait() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }
}

/// A connection to the service.
final class Client {
    private let socket: Int32

    init(_ port: UInt16) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result != 0 { throw Service.Failure(text: "connect: \(errno)") }
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(socket) }

    func send(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 { throw Service.Failure(text: "send: \(errno)") }
            rest = rest.dropFirst(count)
        }
    }

    /// Receives until the service closes the connection.
    func answer() throws -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count < 0 { throw Service.Failure(text: "recv: \(errno)") }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }

    /// True if a request is answered with status 200.
    func isAnswered(_ request: String) throws -> Bool {
        try send(request)
        return try answer().hasPrefix("HTTP/1.1 200 OK\r\n")
    }
}
