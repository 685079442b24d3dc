internal import CThreadControl
internal import Foundation

#if Redis
    internal import CRedisLoad
    internal import DistributedNotifications
    internal import RedisNotifications
#endif

/// Measures posts to a Redis server on this machine, without observers.
///
/// Read the ratio to XADD with hiredis alone. Without the trait Redis, or without a server, nothing is measured.
struct RedisPosts: Measurement {
    private enum Subject: String, CaseIterable {
        case hiredis = "XADD, with hiredis alone"
        case engine = "DistributedNotificationCenter"
    }

    /// The time per post, in nanoseconds.
    private var times = RoundFigures<Subject>()
    private(set) var stage = "redis"

    #if Redis
        private var server: RedisServer?
        private var hiredis: OpaquePointer?
        private var center: DistributedNotificationCenter?
        private var posted: UInt64 = 0
        static let program = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":")
            .map { "\($0)/redis-server" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        private var note: String? { Self.program == nil ? "no redis-server is installed" : nil }

        mutating func measure(round: Int, in session: Session) throws {
            guard let program = Self.program else { return }
            let processors = session.machine.processors
            // The center's thread inherits this processor.
            ThreadNumber.current.pin(to: [processors[0]])
            if server == nil { try open(program, processors[min(1, processors.count - 1)]) }
            let posts = session.isQuick ? 4_000 : 20_000
            for subject in Subject.allCases.turns(of: round) {
                stage = subject.rawValue
                let start = bench_now()
                switch subject {
                case .hiredis:
                    if !bench_redis_add(hiredis, Int32(posts)) { throw Miscount(expected: posts, found: -1) }
                case .engine: try post(posts)
                }
                let time = Double(bench_now() - start) / Double(posts)
                if round >= 0 { times.add(time, of: subject) }
            }
        }

        private mutating func open(_ program: String, _ processor: Int32) throws {
            let server = try RedisServer(program)
            self.server = server
            server.number.pin(to: [processor])
            hiredis = bench_redis_connect(server.path)
            if hiredis == nil { throw Miscount(expected: 1, found: 0) }
            center = try DistributedNotificationCenter(.redis(.unix(path: server.path)))
        }

        /// Posts `count` times, and waits until the server has accepted every post.
        private mutating func post(_ count: Int) throws {
            guard let center else { return }
            let payload = [UInt8](repeating: 0, count: 64)
            for _ in 1..<count {
                try center.post("bench", payload: payload, whenFull: .block(atMost: .seconds(60)))
            }
            let isAccepted = waitForTask(preferring: nil) {
                do {
                    try await center.post("bench", payload: payload, until: .accepted)
                    return true
                } catch { return false }
            }
            posted += UInt64(count)
            let found = isAccepted ? Int(center.statistics.accepted) : -1
            try Miscount.check(expected: Int(posted), found: found)
        }

        mutating func end(in session: Session) throws {
            center?.invalidate()
            center = nil
            if let hiredis { bench_redis_close(hiredis) }
            hiredis = nil
            try server?.stop()
            server = nil
        }
    #else
        private let note: String? = "needs libhiredis-dev, redis-server and --traits Redis"

        mutating func measure(round: Int, in session: Session) {}
    #endif

    var remarks: [String] {
        note.map { ["Posts to a Redis server: not measured, \($0)."] } ?? [
            "Posts with 64 bytes to a Redis server that has a processor of its own and writes no file, up to 1,024 under way, until "
                + "all are accepted. The center has its default options, so it keeps the accepted posts of three seconds, up to 32,768. It "
                + "also sees to it that a post that is sent again is not added twice."
        ]
    }

    var tables: [Table] {
        if note != nil { return [] }
        var table = Table(
            title: "Posts to a Redis server (millions a second)",
            columns: [.ranged("posts", "rate", .millions), .ranged("÷ hiredis", "ratio", .ratio)])
        table.rows = Subject.allCases.map { subject in
            var row = Table.Row(name: subject.rawValue)
            row.add(times.spread(subject) { 1e9 / $0 }, as: "rate")
            row.add(times.ratio(.hiredis, to: subject), as: "ratio")
            return row
        }
        return [table]
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-X3", "posts a second to a Redis server, center ÷ XADD with hiredis alone", .atLeast(0.7),
                stretch: .atLeast(0.95), figure: times.ratio(.hiredis, to: .engine), note: note)
        ]
    }
}

#if Redis
    /// A server that this program starts, on a socket in a new directory.
    final class RedisServer {
        private let directory: URL
        private let process = Process()
        let path: String

        /// Starts the server, and returns when the server accepts connections.
        init(_ program: String) throws {
            directory = FileManager.default.temporaryDirectory.appending(
                path: "runloop-bench-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            path = directory.appending(path: "socket").path
            process.executableURL = URL(filePath: program)
            process.arguments = [
                "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no", "--dir",
                directory.path,
            ]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            var text = ""
            while !text.contains("eady to accept connections") {
                let data = output.fileHandleForReading.availableData
                if data.isEmpty { throw Miscount(expected: 1, found: 0) }
                text += String(decoding: data, as: UTF8.self)
            }
        }

        var number: ThreadNumber { process.processIdentifier }

        func stop() throws {
            process.terminate()
            process.waitUntilExit()
            try FileManager.default.removeItem(at: directory)
        }
    }
#endif
