import CRunLoops
import Glibc

/// A peer of a port that does not follow the protocol.
final class RawPeer {
    /// The kinds of packets that it sends and receives, with the numbers of the protocol.
    private enum Kind: UInt8 {
        case hello = 1
        case welcome = 2
        case message = 4
        case request = 5
    }

    private let socket: CInt

    /// Connects, and waits until the port has admitted the peer; nil if the port does not.
    ///
    /// - Parameters:
    ///   - name: The port's abstract name without its marker.
    ///   - claimsReplies: The size of replies that the peer claims to accept.
    init?(_ name: String, claimsReplies: UInt32) {
        socket = RawPeer.connect(name)
        let isWelcome =
            socket >= 0 && send(RawPeer.head(.hello, number: UInt64(claimsReplies)), [])
            && receivedKind() == Kind.welcome.rawValue
        if isWelcome { return }
        if socket >= 0 { Glibc.close(socket) }
        return nil
    }

    /// Connects to a port, for up to a second, and sends nothing.
    ///
    /// - Returns: The socket, or -1 if the port does not accept the connection.
    static func connect(_ name: String) -> CInt {
        let socket = runloops_socket(false)
        let bytes = Array(name.utf8)
        // Safe: the kernel reads the stated length of the name.
        let connected = unsafe bytes.withUnsafeBytes { bytes in
            unsafe runloops_connect(
                socket, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, true, 1_000_000)
        }
        if connected == 0 { return socket }
        if socket >= 0 { Glibc.close(socket) }
        return -1
    }

    /// The head of a packet without a body.
    private static func head(_ kind: Kind, number: UInt64, descriptors: Int = 0) -> [UInt8] {
        var head: [UInt8] = [0x52, 0x4C, 1, kind.rawValue, 0, 0, 0, 0]
        head += (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
        head += [0, 0, 0, 0, UInt8(truncatingIfNeeded: descriptors), UInt8(descriptors >> 8), 0, 0]
        return head
    }

    /// Sends messages with descriptors, until the port accepts no more.
    func give(_ descriptors: [CInt], inPacketsOf count: Int) {
        var rest = descriptors[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            if !send(RawPeer.head(.message, number: 0, descriptors: part.count), part) { return }
        }
    }

    /// Sends a request, whose reply is never read.
    func ask(_ number: UInt64, id: UInt8 = 0) {
        var head = RawPeer.head(.request, number: number)
        head[4] = id
        _ = send(head, [])
    }

    /// Sends bytes and descriptors as one packet.
    ///
    /// - Returns: False if the port has ended, or has no room for some time.
    @discardableResult
    func send(_ bytes: [UInt8], _ descriptors: [CInt]) -> Bool {
        for _ in 0..<20 {
            let sent = unsafe runloops_send(
                socket, bytes, bytes.count, nil, 0, descriptors, descriptors.count)
            if sent >= 0 { return true }
            if errno != EAGAIN && errno != ETOOMANYREFS { return false }
            var entry = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
            // Safe: the kernel fills a local variable.
            unsafe poll(&entry, 1, 5)
        }
        return false
    }

    /// Returns the kind of the next packet, or nil if no packet arrives.
    private func receivedKind() -> UInt8? {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        var head = [UInt8](repeating: 0, count: 64)
        // Safe, both: the kernel fills a local variable and a local array.
        if unsafe poll(&entry, 1, 2_000) != 1 { return nil }
        let length = unsafe recv(socket, &head, head.count, CInt(MSG_DONTWAIT))
        return length >= 24 ? head[3] : nil
    }

    func close() { Glibc.close(socket) }
}
