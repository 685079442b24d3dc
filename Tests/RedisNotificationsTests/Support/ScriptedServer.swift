import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

@testable import DistributedNotifications
@testable import RedisNotifications

/// A server that greets a center as a real one does, and then answers as a test wants.
final class ScriptedServer: Sendable {
    /// A question of a center that the test answers.
    enum Question: Sendable {
        /// A command of the greeting; nothing to send stands for the reply of an honest server.
        case greeting(String)
        /// The script that reads the stream.
        case scan
        /// The command that waits for new entries.
        case read
        /// The command that asks for posters.
        case locate
    }

    /// The generation of the server's data.
    static let epoch = Epoch(high: 1, low: 2)

    private let directory: ScratchDirectory
    private let thread: RunLoopThread
    let path: String
    /// The number of connections so far.
    let connections = Shared()

    /// Starts a server.
    ///
    /// - Parameter answer: Returns the bytes to send, possibly none; called on the server's thread.
    /// - Throws: The error of the system that refuses the server's socket, file or thread.
    init(_ answer: @escaping @Sendable (Question) -> [UInt8]) throws {
        directory = try ScratchDirectory()
        path = directory.path + "/socket"
        thread = try RunLoopThread(name: "scripted server")
        try thread.runLoop.performAndWait { [path, connections] in
            let listener = try Listener(.unix(path: path))
            try RunLoop.current.add(listener, forMode: .default) { accepted in
                connections.increment()
                var options = Connection.Options()
                options.outputLimit = 256 << 20
                let connection = Connection(accepted, options: options)
                var reader = RedisReader()
                connection.onReceive { connection, bytes in
                    // Safe: the reader copies the bytes.
                    unsafe bytes.withUnsafeBytes { unsafe reader.append($0) }
                    do {
                        while true {
                            switch try reader.step() {
                            case .reply(let command):
                                _ = connection.write(ScriptedServer.reply(to: command.value, answer))
                            case .more: continue
                            case .needsBytes: return bytes.byteCount
                            }
                        }
                    } catch { Issue.record("a center has sent no command: \(error)") }
                    return bytes.byteCount
                }
                do { try RunLoop.current.add(connection, forMode: .default) } catch { connection.close() }
            }
        }
    }

    deinit {
        thread.stop()
        thread.join()
        do { try directory.remove() } catch { print("the directory of a server cannot be removed: \(error)") }
    }

    private static func reply(to command: RedisValue, _ answer: (Question) -> [UInt8]) -> [UInt8] {
        var words: [String] = []
        if var elements = command.elements {
            while let word = elements.next() {
                words.append(String(decoding: word.bytes ?? [], as: UTF8.self))
            }
        }
        let name = words.prefix(2).joined(separator: " ")
        if name != "EVALSHA 4", name != "EVALSHA 5", words.first != "XREAD", words.first != "HMGET" {
            let reply = answer(.greeting(name))
            if !reply.isEmpty { return reply }
        }
        switch name {
        case "INFO":
            return Wired.text("redis_version:7.0.0\r\nrun_id:a\r\nmaster_replid:b\r\nrole:master\r\n").sent
        case "CLIENT ID": return Wired.integer("7").sent
        case "EVALSHA 0": return Wired.text(epoch.text).sent
        case "EVALSHA 1", "EVALSHA 2", "EVALSHA 3": return Wired.integer("1").sent
        case "EVALSHA 4": return Wired.text("0-1").sent
        case "EVALSHA 5": return answer(.scan)
        case "SUBSCRIBE __redis__:invalidate": return Wired.array([.text("subscribe")]).sent
        case "SCRIPT LOAD":
            return Wired.text("\(Scripts.all.firstIndex(of: words[2]) ?? 99)").sent
        default: break
        }
        switch words.first {
        case "GET": return Wired.text(epoch.text).sent
        case "XREAD": return answer(.read)
        case "HMGET": return answer(.locate)
        default: return Wired.status(Array("OK".utf8)).sent
        }
    }

    /// Makes a center of this server.
    func center() throws -> DistributedNotificationCenter {
        var options = RedisOptions()
        options.connectTimeout = .seconds(60)
        return try DistributedNotificationCenter(.redis(.unix(path: path), options: options))
    }
}
