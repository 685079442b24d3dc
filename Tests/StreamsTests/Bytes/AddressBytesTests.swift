import Testing

@testable import Streams

/// The storage of addresses, which is in the value itself for short ones.
@Suite struct AddressBytesTests {
    @Test(arguments: [0, 1, 2, 16, 28, 30, 31, 32, 110])
    func `bytes of any length come back`(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }
        let address = SocketAddress(kernel: bytes)
        #expect(address.bytes == bytes)
        let copy = unsafe bytes.withUnsafeBytes { unsafe SocketAddress(kernel: $0) }
        #expect(copy == address && copy.hashValue == address.hashValue)
    }

    @Test(arguments: 0..<40) func `addresses differ if one byte or the length differs`(count: Int) {
        let bytes = [UInt8](repeating: 0, count: count)
        let address = SocketAddress(kernel: bytes)
        #expect(address != SocketAddress(kernel: bytes + [0]))
        for index in 0..<count {
            var other = bytes
            other[index] = 1
            #expect(address != SocketAddress(kernel: other))
        }
    }

    @Test func `no IP address needs memory of its own`() throws {
        for host in ["192.0.2.1", "2001:db8::1"] {
            let address = try #require(SocketAddress(host: host, port: 65_535))
            #expect(address.bytes.count <= AddressBytes.Inline.capacity)
            #expect(address.host == host && address.port == 65_535 && address.path == nil)
        }
    }
}
