import Foundation
import Testing

extension Examples {
    /// The chat server under a service manager, which the test simulates.
    @Suite struct ServiceTests {
        @Test func `a service takes over a socket, and tells of its start, its life and its end`() throws {
            let manager = try Manager()
            let (listening, port) = try Peer.listen()
            let server = try ServerProcess(
                "chat-server", "--port", "1",
                environment: ["NOTIFY_SOCKET": manager.place, "WATCHDOG_USEC": "100000"],
                activation: listening)
            // From now on only the server's own descriptor is open.
            close(listening)
            #expect(try server.port() == port)
            #expect(try manager.notice() == "READY=1")
            let member = try Peer(port: port)
            #expect(try member.line()?.hasPrefix("* Welcome") == true)
            for _ in 0..<3 { #expect(try manager.notice() == "WATCHDOG=1") }
            server.signal(SIGTERM)
            var last = try manager.notice()
            while last == "WATCHDOG=1" { last = try manager.notice() }
            #expect(last == "STOPPING=1")
            _ = try member.drain()
            member.close()
            #expect(try server.end() == 0)
        }

        @Test func `a service whose loop is stopped is not reported as alive`() throws {
            let manager = try Manager()
            let server = try ServerProcess(
                "chat-server", "--port", "0",
                environment: ["NOTIFY_SOCKET": manager.place, "WATCHDOG_USEC": "100000"])
            #expect(try manager.notice() == "READY=1")
            #expect(try manager.notice() == "WATCHDOG=1")
            try server.suspend()
            var isSilent = false
            for _ in 0..<20 where !isSilent { isSilent = try manager.notice(within: 500) == nil }
            #expect(isSilent)
            server.signal(SIGCONT)
            #expect(try manager.notice() == "WATCHDOG=1")
            server.signal(SIGTERM)
            #expect(try server.end() == 0)
        }

        @Test func `variables that are meant for another process are ignored`() throws {
            let server = try ServerProcess(
                "chat-server", "--port", "0", environment: ["LISTEN_PID": "1", "LISTEN_FDS": "1"])
            let member = try Peer(port: server.port())
            #expect(try member.line()?.hasPrefix("* Welcome") == true)
            server.signal(SIGTERM)
            #expect(try server.end() == 0)
        }
    }
}

/// The socket to which services send their notices.
private final class Manager {
    let place: String
    private let descriptor: CInt

    init() throws {
        place = FileManager.default.temporaryDirectory.appending(path: "notices.\(UUID().uuidString)").path
        descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if descriptor < 0 { throw Failure(call: "socket") }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: place.utf8) }
        let result = withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if result != 0 { throw Failure(call: "bind") }
    }

    deinit {
        close(descriptor)
        unlink(place)
    }

    /// Waits for the next notice.
    ///
    /// - Throws: ``Failure`` if no notice arrives.
    func notice() throws -> String {
        guard let notice = try notice(within: 30_000) else { throw Failure("no notice") }
        return notice
    }

    /// Waits for the next notice.
    ///
    /// - Parameter milliseconds: The maximum time.
    /// - Returns: The notice, or nil if no notice has arrived in time.
    /// - Throws: ``Failure`` if the socket fails.
    func notice(within milliseconds: CInt) throws -> String? {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        if poll(&entry, 1, milliseconds) == 0 { return nil }
        var buffer = [UInt8](repeating: 0, count: 1_024)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0 { throw Failure(call: "recv") }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }
}

extension Peer {
    /// Opens a listening socket on a free port of this machine.
    ///
    /// - Returns: The socket and its port.
    fileprivate static func listen() throws -> (CInt, UInt16) {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if descriptor < 0 { throw Failure(call: "socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) != 0 || Glibc.listen(descriptor, 16) != 0
                    || getsockname(descriptor, $0, &length) != 0
            }
        }
        if result { throw Failure(call: "listen") }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }
}
