import Foundation
import Glibc

/// A Redis server for one test, with a socket in a directory of its own.
final class RedisServer {
    let path: String
    private let directory: URL
    private var process: Process?

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "redis-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        path = directory.appending(path: "socket").path
    }

    /// Starts the server, and returns when it accepts connections.
    func start() throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/redis-server")
        process.arguments = [
            "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no", "--dir", directory.path,
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        self.process = process
        // The last line that the server prints before it serves.
        var text = ""
        while !text.contains("eady to accept connections") {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { throw Ended(text: text) }
            text += String(decoding: data, as: UTF8.self)
        }
    }

    /// Ends the server at once, as a crash would.
    func kill() {
        guard let process else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        self.process = nil
    }

    func end() throws {
        kill()
        try FileManager.default.removeItem(at: directory)
    }

    struct Ended: Error { let text: String }
}
