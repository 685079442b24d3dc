import CSockets
import Glibc
import TestSupport

/// The means by which a hostile process tries to harm a port of another process.
///
/// Each does one thing again and again, until the time is over. The defence of the port, such as refusing connections, is
/// no failure.
enum Attack: String {
    /// Sends descriptors that take long to close, then many that do not, then more of the first kind.
    case lingering
    /// Sends as many descriptors as it can, on as many connections as it gets, also in packets that break the rules and in
    /// connections that are closed unread.
    case hoarding
    /// Says that it takes huge replies, asks for many, and reads none.
    case claiming
    /// Sends packets that break the rules, one on each connection, so that the port has something to report all the time.
    case malforming
    /// Connects as often as it can, and says nothing.
    case connecting

    /// Attacks the port that has an abstract name.
    ///
    /// - Parameters:
    ///   - name: The name, without its mark.
    ///   - seconds: The length of the attack.
    /// - Throws: If there are no sockets for it.
    func run(on name: String, seconds: Int) throws {
        let end = ContinuousClock.now + .seconds(seconds)
        var (rounds, served) = (0, 0)
        // The readers that keep the sockets of the last rounds slow to close.
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
            // The processors are for the others, too: how much of their time a process gets is no matter of the port's.
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
                // Within the rules; behind it, without a head and with as many as a packet carries; and again, not to be read.
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

/// TCP sockets whose last owner waits an hour when closing one: what they have sent is not read.
final class SlowSockets {
    private var sockets: [CInt] = []
    private var readers: [CInt] = []

    /// Makes sockets that have more to send than is taken.
    ///
    /// - Parameter count: The number of sockets.
    /// - Throws: If there are none.
    init(_ count: Int) throws {
        let (listening, port) = try Loopback.listen()
        defer { Loopback.close(listening) }
        for _ in 0..<count {
            sockets.append(try Loopback.connect(to: port))
            var entry = pollfd(fd: listening, events: Int16(POLLIN), revents: 0)
            // Safe: the kernel fills our own value.
            while unsafe poll(&entry, 1, 1_000) == 1 {
                guard let reader = Loopback.accept(listening) else { continue }
                readers.append(reader)
                break
            }
        }
        let bytes = [UInt8](repeating: 1, count: 65_536)
        // The readers' kernel takes more for a moment than it has said at first.
        for _ in 0..<4 {
            for socket in sockets { while try Loopback.write(bytes, to: socket) > 0 {} }
            usleep(30_000)
        }
        var time = linger(l_onoff: 1, l_linger: 3_600)
        for socket in sockets {
            // Safe: the kernel reads our own value.
            unsafe setsockopt(
                socket, SOL_SOCKET, SO_LINGER, &time, socklen_t(MemoryLayout<linger>.size))
        }
    }

    /// Sends the sockets away, so that the receiver is the last to have them.
    ///
    /// A process that ends does not linger, so a child sends them that ends then. It begins when this process has none any more.
    ///
    /// - Parameter send: Sends them; in the child.
    func giveAway(_ send: ([CInt]) -> Void) {
        let sockets = sockets
        var ends: [CInt] = [0, 0]
        // Safe: the kernel fills our array of two.
        if unsafe pipe(&ends) != 0 { return }
        let child = Child {
            var byte: UInt8 = 0
            Loopback.close(ends[1])
            // Safe: the kernel writes at most our one byte.
            _ = unsafe read(ends[0], &byte, 1)
            send(sockets)
            return 0
        }
        for socket in sockets { Loopback.close(socket) }
        for end in ends { Loopback.close(end) }
        self.sockets = []
        child.wait()
    }

    /// Ends the closes that wait for them.
    func end() {
        for reader in readers { Loopback.close(reader) }
        readers = []
    }
}
