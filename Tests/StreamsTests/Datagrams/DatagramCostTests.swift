import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// What a datagram costs.
@Suite struct DatagramCostTests {
    private static let text = Array("gorets:1|c".utf8)

    /// Sends datagrams from all sockets of an array in turn, and runs the loop until the receiver has handled them.
    ///
    /// Few of them are under way at once, so that the kernel discards none.
    private static func exchange(_ rounds: Int, _ senders: [DatagramSocket], _ received: () -> Int) {
        for _ in 0..<rounds {
            let end = received() + 16 * senders.count
            for _ in 0..<16 { for sender in senders { sender.send(text) } }
            RunLoop.current.run(until: "all have arrived") { received() == end }
        }
    }

    @Test(.enabled(if: Allocations.areCounted), arguments: DatagramTests.Family.allCases)
    func `in the steady state, datagrams allocate nothing, whoever sends them`(
        family: DatagramTests.Family
    ) throws {
        try onLoopThread { loop in
            let directory = try ScratchDirectory()
            let receiver = try DatagramSocket(family.address(in: directory))
            var (count, sum) = (0, 0)
            receiver.onReceive { _, bytes, sender in
                count += 1
                sum += bytes.byteCount + (sender.port == nil ? 0 : 1)
            }
            try loop.add(receiver, forMode: .default)
            let address = family == .all ? try #require(receiver.loopback) : receiver.localAddress
            let senders = try (0..<3).map { _ in
                let sender = try DatagramSocket(connectedTo: address)
                try loop.add(sender, forMode: .default)
                return sender
            }
            DatagramCostTests.exchange(4, senders) { count }
            let few = Allocations.count { DatagramCostTests.exchange(4, senders) { count } }
            let many = Allocations.count { DatagramCostTests.exchange(40, senders) { count } }
            // A list can still grow once, if more datagrams wait than ever before. One allocation a datagram would be 1,728.
            #expect(many < few + 20 || !isOptimized, "\(few) of 192 datagrams, \(many) of 1,920")
            for socket in senders + [receiver] { socket.close() }
        }
    }
}
