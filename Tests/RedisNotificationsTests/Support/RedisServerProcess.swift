import DistributedNotifications
import Foundation
import Glibc
import RedisNotifications
import TestSupport

/// A Redis server of a test's own, on a socket in a directory of its own.
final class RedisServerProcess {
    let path: String
    private let directory: ScratchDirectory
    private var process: Process?
    /// The arguments of each start.
    var arguments: [String]

    /// Starts a server, and returns when it accepts connections.
    init(_ arguments: String..., isStarted: Bool = true) throws {
        directory = try ScratchDirectory()
        path = directory.path + "/socket"
        self.arguments = arguments
        if isStarted { try start() }
    }

    deinit {
        kill()
        do { try directory.remove() } catch { print("the directory of a server cannot be removed: \(error)") }
    }

    func start() throws {
        let process = Process()
        // Another program is that of a Valkey server, for the same tests.
        let program = ProcessInfo.processInfo.environment["REDIS_SERVER"] ?? "/usr/bin/redis-server"
        process.executableURL = URL(filePath: program)
        process.arguments =
            ["--port", "0", "--unixsocket", path, "--save", "", "--dir", directory.path] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        self.process = process
        var text = ""
        while !text.contains("eady to accept connections") {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { throw Refused(text: text) }
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

    /// The newest incremental file of the append-only log.
    var appendOnlyFile: URL {
        get throws {
            let folder = directory.path + "/appendonlydir"
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            guard let name = names.last(where: { $0.hasSuffix(".incr.aof") }) else {
                throw Refused(text: "\(names)")
            }
            return URL(filePath: folder + "/" + name)
        }
    }

    /// Runs a command with the server's own client, and returns the text that the client prints.
    ///
    /// The last word may be any bytes.
    @discardableResult
    func command(_ words: String..., last: [UInt8]? = nil) throws -> String {
        let client = Process()
        client.executableURL = URL(filePath: "/usr/bin/redis-cli")
        client.arguments = ["-s", path] + (last == nil ? [] : ["-x"]) + words
        let (input, output) = (Pipe(), Pipe())
        client.standardOutput = output
        if last != nil { client.standardInput = input }
        try client.run()
        if let last {
            try input.fileHandleForWriting.write(contentsOf: last)
            try input.fileHandleForWriting.close()
        }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        client.waitUntilExit()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    struct Refused: Error { let text: String }

    /// Makes a center of this server, which connects through a relay at a path if there is one.
    func center(
        through relay: String? = nil, limits: DistributedNotificationCenter.Options = .init(),
        _ change: (inout RedisOptions) -> Void = { _ in }
    ) throws -> DistributedNotificationCenter {
        var options = RedisOptions()
        options.namespace = "test"
        options.retention = .milliseconds(1_500)
        change(&options)
        return try DistributedNotificationCenter(
            .redis(.unix(path: relay ?? path), options: options), options: limits)
    }
}
