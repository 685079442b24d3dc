import CRunLoops
import Glibc
import TestSupport

/// The ways in which a hostile process tries to harm a port of another process.
///
/// Each repeats one action until its time is over. If the port defends itself, for example by refusing connections, the attack has
/// not failed.
enum Attack: String {
    /// Sends slow descriptors, which take long to close, then many others, then more slow ones.
    case lingering
    /// Sends as many descriptors as possible on many connections, also in malformed packets and on connections closed unread.
    case hoarding
    /// Claims to accept huge replies, sends many requests, and reads no reply.
    case claiming
    /// Sends malformed packets, one on each connection, so that the port continuously has a reason to report.
    case malforming
    /// Connects as often as possible, and sends nothing.
    case connecting

    /// Attacks the port that has an abstract name.
    ///
    /// - Parameters:
    ///   - name: The name without its marker.
    ///   - seconds: The duration of the attack.
    /// - Throws: An error if there are no sockets.
    func run(on name: String, seconds: Int) throws {
        let end = ContinuousClock.now + .seconds(seconds)
        var (rounds, served) = (0, 0)
        // The reading ends for the sockets of the last rounds, which keep these slow to close.
        var readers: [SlowSockets] = []
        while ContinuousClock.now < end {
            switch self {
            case .lingering:
                let slow = try SlowSockets(24)
                if linger(name, slow) { served += 1 }
                readers.append(slow)
            case .hoarding:
                let slow = try SlowSockets(16)
                if hoard(name, slow) { served += 1 }
                readers.append(slow)
            case .claiming: if claim(name, until: end) { served += 1 }
            case .malforming: if malform(name) { served += 1 }
            case .connecting: if connect(name) { served += 1 }
            }
            if readers.count > 50 { readers.removeFirst().end() }
            rounds += 1
            // The port is not responsible for processor time, so the attack leaves some to the other processes.
            usleep(self == .lingering || self == .hoarding ? 5_000 : 100_000)
        }
        tell("\(rounds) rounds, \(served) with a connection")
        _ = consume readers
    }

    private func linger(_ name: String, _ slow: SlowSockets) -> Bool {
        let peer = RawPeer(name, claimsReplies: 65_536)
        slow.giveAway { sockets in
            guard let peer else { return }
            peer.give(Array(sockets.prefix(12)), inPacketsOf: 12)
            peer.give([CInt](repeating: STDERR_FILENO, count: 1_100), inPacketsOf: 32)
            peer.give(Array(sockets.dropFirst(12)), inPacketsOf: 12)
        }
        peer?.close()
        return peer != nil
    }

    private func hoard(_ name: String, _ slow: SlowSockets) -> Bool {
        var peers: [RawPeer] = []
        while peers.count < 64, let peer = RawPeer(name, claimsReplies: 0) { peers.append(peer) }
        slow.giveAway { sockets in
            let plain = [CInt](repeating: STDERR_FILENO, count: 252)
            for (peer, socket) in zip(peers, sockets) {
                // A valid packet, then two without a head and with the maximum number of descriptors. The last packet is never
                // read.
                peer.give([socket] + plain.prefix(31), inPacketsOf: 32)
                peer.send([1, 2, 3], [socket] + plain)
                peer.send([1, 2, 3], [socket] + plain)
            }
            for peer in peers.dropFirst(sockets.count) { peer.give(plain, inPacketsOf: 32) }
        }
        for peer in peers { peer.close() }
        return !peers.isEmpty
    }

    private func claim(_ name: String, until end: ContinuousClock.Instant) -> Bool {
        var peers: [RawPeer] = []
        while peers.count < 60, let peer = RawPeer(name, claimsReplies: .max) { peers.append(peer) }
        for number in 1...50 {
            for peer in peers where ContinuousClock.now < end { peer.ask(UInt64(number)) }
        }
        for peer in peers { peer.close() }
        return !peers.isEmpty
    }

    private func malform(_ name: String) -> Bool {
        var count = 0
        while count < 100, let peer = RawPeer(name, claimsReplies: 0) {
            peer.send([1, 2, 3], [])
            peer.close()
            count += 1
        }
        return count > 0
    }

    private func connect(_ name: String) -> Bool {
        let sockets = (0..<200).map { _ in RawPeer.connect(name) }
        for socket in sockets where socket >= 0 { Glibc.close(socket) }
        return sockets.contains { $0 >= 0 }
    }
}

/// TCP sockets whose last close blocks for an hour, because their data are not read.
final class SlowSockets {
    private var sockets: [CInt] = []
    private var readers: [CInt] = []

    /// Makes sockets with more data than the other end accepts.
    ///
    /// - Parameter count: The number of sockets.
    /// - Throws: An error if there are no sockets.
    init(_ count: Int) throws {
        let (listening, port) = try Loopback.listen()
        defer { Loopback.close(listening) }
        for _ in 0..<count {
            sockets.append(try Loopback.connect(to: port))
            var entry = pollfd(fd: listening, events: Int16(POLLIN), revents: 0)
            // Safe: the kernel fills a local variable.
            while unsafe poll(&entry, 1, 1_000) == 1 {
                guard let reader = Loopback.accept(listening) else { continue }
                readers.append(reader)
                break
            }
        }
        let bytes = [UInt8](repeating: 1, count: 65_536)
        // For a moment, the kernel at the reading end accepts more than it has announced.
        for _ in 0..<4 {
            for socket in sockets { while try Loopback.write(bytes, to: socket) > 0 {} }
            usleep(30_000)
        }
        var time = linger(l_onoff: 1, l_linger: 3_600)
        for socket in sockets {
            // Safe: the kernel reads a local variable.
            unsafe setsockopt(
                socket, SOL_SOCKET, SO_LINGER, &time, socklen_t(MemoryLayout<linger>.size))
        }
    }

    /// Sends the sockets away, so that the receiver is their last owner.
    ///
    /// A process that ends does not linger. So a child sends the sockets and ends. The child waits until this process has closed
    /// its own copies.
    ///
    /// - Parameter send: Sends the sockets. Called in the child.
    func giveAway(_ send: ([CInt]) -> Void) {
        let sockets = sockets
        var ends: [CInt] = [0, 0]
        // Safe: the kernel fills a local array of two elements.
        if unsafe pipe(&ends) != 0 { return }
        let child = Child {
            var byte: UInt8 = 0
            Loopback.close(ends[1])
            // Safe: the kernel writes at most one byte to a local variable.
            _ = unsafe read(ends[0], &byte, 1)
            send(sockets)
            return 0
        }
        for socket in sockets { Loopback.close(socket) }
        for end in ends { Loopback.close(end) }
        self.sockets = []
        child.wait()
    }

    /// Closes the reading ends, and so ends the closes that block.
    func end() {
        for reader in readers { Loopback.close(reader) }
        readers = []
    }
}
