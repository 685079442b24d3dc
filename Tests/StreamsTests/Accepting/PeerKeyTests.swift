import Testing

@testable import Streams

/// Peers are distinguished by the part of their address that they cannot choose.
@Suite struct PeerKeyTests {
    private func key(_ host: String, port: UInt16 = 1) throws -> [UInt8]? {
        try #require(SocketAddress(host: host, port: port)).peerKey
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
        ("192.0.2.1", "::ffff:192.0.2.1", true), ("::ffff:192.0.2.1", "::ffff:192.0.2.2", false),
        ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true), ("2001:db8:0:1::1", "2001:db8:0:2::1", false),
        ("fe80::1", "fe80::2", false), ("fe80::1", "fe80::1", true), ("::1", "::2", false),
        ("::1", "::1", true),
    ])
    func `an IPv4 address, or the network of an IPv6 address, is one peer`(
        first: String, second: String, areSame: Bool
    ) throws {
        #expect(try (key(first) == key(second, port: 2)) == areSame)
    }

    @Test func `the users of Unix sockets are not told apart`() throws {
        #expect(try #require(SocketAddress(path: "/run/server")).peerKey == nil)
    }
}
