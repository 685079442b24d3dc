import Foundation
import MessagePorts
import RunLoops
import Testing

extension Examples {
    /// The server that a new process replaces.
    @Suite struct RestartTests {
        /// A directory for the names of one test's servers.
        private let environment: [String: String]

        init() throws {
            var template = Array("/tmp/examples.XXXXXX".utf8CString)
            if mkdtemp(&template) == nil { throw Failure(call: "mkdtemp") }
            let path = template.dropLast().map { UInt8(bitPattern: $0) }
            environment = ["XDG_RUNTIME_DIR": String(decoding: path, as: UTF8.self)]
        }

        private func removeDirectory() throws {
            for path in environment.values { try FileManager.default.removeItem(atPath: path) }
        }

        private func start(port: UInt16 = 0) throws -> ServerProcess {
            try ServerProcess("restarting-server", "--port", "\(port)", environment: environment)
        }

        @Test func `no client is refused or loses a line while servers replace each other`() throws {
            defer { #expect(throws: Never.self) { try removeDirectory() } }
            var server = try start()
            let port = try server.port()
            let isOver = Flag()
            let clients = (0..<2).map { number in
                Worker { () throws -> (count: Int, servers: Set<String>) in
                    var count = 0
                    var servers: Set<String> = []
                    while !isOver.isSet {
                        let peer = try Peer(port: port)
                        try peer.send("\(number) \(count)\n")
                        guard let words = try peer.line()?.split(separator: ":"), words.count == 2,
                            words[1] == " \(number) \(count)"
                        else { throw Failure("another answer to \(number) \(count)") }
                        servers.insert(String(words[0]))
                        count += 1
                        peer.reset()
                    }
                    return (count, servers)
                }
            }
            let restarts = Examples.count(full: 100, small: 8)
            for _ in 0..<restarts {
                let old = server
                let guest = try Peer(port: port)
                try guest.send("before\n")
                #expect(try guest.line() == "\(old.processID): before")
                server = try start()
                #expect(try server.port() == port)
                // The old server continues to serve its clients, and ends when they have left.
                try guest.send("after\n")
                #expect(try guest.line() == "\(old.processID): after")
                guest.close()
                #expect(try old.end() == 0)
                // The new server serves a client that connects now.
                let next = try Peer(port: port)
                try next.send("next\n")
                #expect(try next.line() == "\(server.processID): next")
            }
            isOver.set()
            let results = try clients.map { try $0.join() }
            let servers = results.reduce(into: Set<String>()) { $0.formUnion($1.servers) }
            let count = results.reduce(0) { $0 + $1.count }
            print("restarts: \(restarts), \(count) connections, served by \(servers.count) processes")
            #expect(servers.count > restarts / 2)
            server.signal(SIGTERM)
            #expect(try server.end() == 0)
        }

        @Test func `a new server that ends before it serves changes nothing`() throws {
            defer { #expect(throws: Never.self) { try removeDirectory() } }
            let server = try start()
            let port = try server.port()
            let names = PortNames(directory: (environment["XDG_RUNTIME_DIR"] ?? "") + "/run-loops")
            for _ in 0..<3 {
                let remote = try RemotePort(named: PortName("org.example.echo"), in: names)
                let reply = try remote.request(id: 1)
                let count = reply.descriptors.count
                #expect(count == 1)
            }
            let client = try Peer(port: port)
            try client.send("hello\n")
            #expect(try client.line() == "\(server.processID): hello")
            client.close()
            server.signal(SIGTERM)
            #expect(try server.end() == 0)
        }

        @Test func `clients that do not leave end with the time, and the exit code says so`() throws {
            defer { #expect(throws: Never.self) { try removeDirectory() } }
            let server = try ServerProcess(
                "restarting-server", "--port", "0", "--stop-time", "1", environment: environment)
            let client = try Peer(port: server.port())
            try client.send("hello\n")
            _ = try client.line()
            server.signal(SIGTERM)
            #expect(try server.end() == 1)
            _ = try client.drain()
        }
    }
}

/// A flag that one thread sets, and other threads read.
final class Flag: @unchecked Sendable {
    // Safe because the lock guards the variable.
    private let lock = NSLock()
    private var value = false

    var isSet: Bool { lock.withLock { value } }

    func set() { lock.withLock { value = true } }
}
