import Foundation
import Glibc
import RedisNotifications
import TestExpectations
import TestSupport
import Testing

@testable import DistributedNotifications

/// Notifications through a real server.
@Suite struct DeliveryTests {
    @Test func `posts of one center reach the observers of another, with name, sender, payload and date`()
        throws
    {
        let server = try RedisServerProcess()
        let (poster, center) = (try server.center(), try server.center())
        let (one, all) = (try Observer(center), try Observer(center, name: nil))
        let sent = try Observer(center, name: "A", sender: "me")
        let bytes = [UInt8](0...255)
        try poster.post("A", payload: bytes)
        try poster.post("B", sender: "me")
        try poster.post("A", sender: "me", payload: [1])
        all.waitForNumber(3)
        one.waitForNumber(3)
        sent.waitForNumber(3)
        #expect(all.numbers == [1, 2, 3] && one.numbers == [1, 3] && sent.numbers == [3])
        let first = try #require(one.log.entries.first)
        guard case .notification(let note) = first else {
            Issue.record("a gap comes first")
            return
        }
        #expect(
            note.payload == bytes && note.sender == nil && note.poster == poster.poster
                && note.timeSince1970 > .zero)
        #expect(all.gaps.isEmpty && one.gaps.isEmpty && sent.gaps.isEmpty)
    }

    @Test func `ten thousand posts of four centers arrive in order, each once`() throws {
        let server = try RedisServerProcess()
        let center = try server.center()
        let observer = try Observer(center)
        let posters = try (0..<4).map { _ in try server.center { $0.retention = .zero } }
        let threads = try Threads(4) { index in try posters[index].post(1...2_500) }
        try threads.join()
        waitUntil("all have come") { observer.log.entries.count >= 10_000 }
        for poster in posters {
            let numbers = observer.log.entries.compactMap { event -> UInt64? in
                guard case .notification(let note) = event, note.poster == poster.poster else { return nil }
                return note.number
            }
            #expect(numbers == Array(1...2_500))
        }
    }

    @Test func `a post is accepted when the server has it, and kept for the retention`() async throws {
        let server = try RedisServerProcess()
        let keeper = try server.center { $0.retention = .seconds(600) }
        try await keeper.post("A", until: .accepted, before: .hang)
        // With the first entry of the generation.
        #expect(try server.command("XLEN", stream(server)) == "2")
        #expect(keeper.statistics.kept == 1)
        let poster = try server.center { $0.retention = .milliseconds(300) }
        let start = ContinuousClock.now
        try await poster.post("A", until: .settled, before: .hang)
        #expect(ContinuousClock.now - start >= .milliseconds(300))
        #expect(poster.statistics.kept == 0)
    }

    // Guarantees: While the server keeps up, a center posts any number of posts a second, whatever the retention.
    @Test func `with the defaults a poster is never full while the server keeps up`() throws {
        let server = try RedisServerProcess()
        // All within the retention, and more than a center keeps by its own options or for the retention.
        let center = try DistributedNotificationCenter(.redis(.unix(path: server.path)))
        let limits = (center.options.keptPostLimit, RedisOptions().retainedPostLimit)
        center.waitUntilConnected()
        for posted in 1...UInt64(limits.1 + limits.0) {
            if posted - center.statistics.accepted > limits.0 / 2 {
                waitUntil("the server has most") { posted - center.statistics.accepted < limits.0 / 4 }
            }
            try center.post("A", whenFull: .refuse)
        }
        waitUntil("the server has all") { center.statistics.accepted == limits.0 + limits.1 }
        #expect(center.statistics.kept <= limits.1)
    }

    @Test func `late observers get the newest posts, or those since a time`() throws {
        let server = try RedisServerProcess()
        let poster = try server.center()
        try poster.post(1...1_200)
        waitUntil("the server has them") { poster.statistics.accepted == 1_200 }
        let center = try server.center()
        let newest = try Observer(center, startingWith: .last(3))
        newest.waitForNumber(1_200)
        #expect(newest.numbers == [1_198, 1_199, 1_200])
        let since = try Observer(center, startingWith: .since(timeSince1970: .zero))
        since.waitForNumber(1_200)
        #expect(since.numbers == Array(1...1_200))
        let none = try Observer(center)
        #expect(none.log.entries.isEmpty)
        try poster.post(1_201...1_201)
        for observer in [newest, since, none] { observer.waitForNumber(1_201) }
        #expect(newest.gaps.isEmpty && since.gaps.isEmpty && none.numbers == [1_201] && none.gaps.isEmpty)
    }

    // Guarantees: A center at rest does not wake up.
    @Test func `a center of a server does not wake up at rest`() throws {
        let server = try RedisServerProcess()
        var limits = DistributedNotificationCenter.Options()
        limits.stallTimeout = .milliseconds(100)
        let center = try server.center(limits: limits) { $0.retention = .milliseconds(100) }
        let observer = try Observer(center)
        try center.post(1...5)
        observer.waitForNumber(5)
        #expect(Rest.comes(to: [center.state.loop]))
    }

    @Test func `the end of a poster makes no gap, and the server forgets it`() throws {
        let server = try RedisServerProcess()
        let observer = try Observer(try server.center())
        let poster = try server.center()
        try poster.post(1...10)
        observer.waitForNumber(10)
        poster.invalidate()
        waitUntil("the server has forgotten it") {
            do { return try server.command("HLEN", posters(server)) == "0" } catch { return false }
        }
        #expect(observer.gaps.isEmpty)
    }

    @Test func `programs that the process starts inherit no connection to the server`() throws {
        let server = try RedisServerProcess()
        let center = try server.center()
        center.waitUntilConnected()
        var sockets = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            guard let number = CInt(name), peerPath(number) == server.path else { continue }
            sockets += 1
            #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
        }
        #expect(sockets == 3)
    }

    /// The path of the socket that a descriptor is connected to.
    private func peerPath(_ descriptor: CInt) -> String? {
        var address = sockaddr_un()
        var size = socklen_t(MemoryLayout<sockaddr_un>.size)
        // Safe: the kernel fills our own value, up to its size.
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getpeername(descriptor, $0, &size)
            }
        }
        if result != 0 || address.sun_family != sa_family_t(AF_UNIX) { return nil }
        return unsafe withUnsafeBytes(of: address.sun_path) { path in
            unsafe String(decoding: path.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

/// The key of the stream of a server.
func stream(_ server: RedisServerProcess) throws -> String {
    try "dn:{test}:s:" + server.command("GET", "dn:{test}:gen")
}

/// The key of the posters of a server.
func posters(_ server: RedisServerProcess) throws -> String {
    try "dn:{test}:p:" + server.command("GET", "dn:{test}:gen")
}
