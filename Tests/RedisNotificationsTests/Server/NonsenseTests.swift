import DistributedNotifications
import Glibc
import RedisNotifications
import TestExpectations
import TestSupport
import Testing

/// Servers that are none: the center says what is wrong, and the process lives on.
@Suite struct NonsenseTests {
    // Guarantees: No bytes that a server sends end the process.
    // Guarantees: The reason that a connection ends is in the center's state.
    @Test(arguments: [
        ("HTTP/1.1 400 Bad Request\r\n\r\n", "Protocol error, got \"H\""),
        (":5\r\n:5\r\n:5\r\n:5\r\n:5\r\n:5\r\n:5\r\n", "not"),
        ("+OK\r\n", "not"),
        ("-ERR max number of clients reached\r\n", "max number of clients reached"),
        ("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", "nested too deeply"),
        ("*2147483647\r\n", "1048576 values"),
        ("*-7\r\n", "out of range"),
        (":99999999999999999999\r\n", "out of range"),
        ("$3\r\nabcd\r\n", "longer than it says"),
        ("%1\r\n+a\r\n:1\r\n", "Protocol error, got \"%\""),
        ("-ERR \u{1B}[2J\u{9B}31m\u{202E}\r\n", "ERR \\u{1b}[2J\\u{9b}31m\\u{202e}"),
        ("$999999999\r\nshort", "268435456 bytes"),
        ("$-5\r\n", "out of range"),
        ("$99999999999999999999\r\n", "Redis at localhost"),
        ("$9999999\r\nshort", "does not answer within"),
        ("", "does not answer within"),
    ])
    func `bytes that are no replies are named`(bytes: String, words: String) throws {
        let server = try FakeServer(Array(bytes.utf8))
        let center = try center(server.port)
        center.waitUntilAway(words)
        try center.post("A")
        #expect(center.statistics.kept == 1 && center.statistics.accepted == 0)
    }

    @Test func `a server that closes each connection is named`() throws {
        let server = try FakeServer([], closes: true)
        let center = try center(server.port)
        waitUntil("the center is away, not \(center.connectionState)") {
            let text = "\(center.connectionState)"
            return text.contains("losed") || text.contains("reset")
        }
    }

    // Guarantees: No bytes that a server sends end the process.
    @Test(arguments: 0..<40) func `random bytes end the connection, and nothing else`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let alphabet = Array("*$:+-0123456789\r\n\r\nOKx".utf8)
        let bytes = (0..<Int.random(in: 1...200, using: &random)).map { _ in
            alphabet.randomElement(using: &random) ?? 0
        }
        let server = try FakeServer(bytes)
        let center = try center(server.port)
        waitUntil("the center is away") { if case .away = center.connectionState { true } else { false } }
    }

    @Test func `a port that nobody listens at is named`() throws {
        let (socket, port) = try Loopback.listen()
        close(socket)
        try center(Int(port)).waitUntilAway("Connection refused")
    }

    private func center(_ port: Int) throws -> DistributedNotificationCenter {
        var options = RedisOptions()
        options.connectTimeout = .milliseconds(200)
        return try DistributedNotificationCenter(
            .redis(.tcp(host: "localhost", port: UInt16(port)), options: options))
    }
}
