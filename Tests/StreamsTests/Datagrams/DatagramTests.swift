import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Sockets receive, answer and cut datagrams, over every family.
@Suite struct DatagramTests {
    enum Family: CaseIterable {
        case ipv4, ipv6, all, path, abstract

        func address(in directory: ScratchDirectory) -> DatagramSocket.Address {
            switch self {
            case .ipv4: .udp(host: "127.0.0.1", port: 0)
            case .ipv6: .udp(host: "::1", port: 0)
            case .all: .udp(port: 0)
            case .path: .unix(path: "\(directory.path)/socket")
            case .abstract: .abstract(name: "\(directory.path)/name")
            }
        }
    }

    // Guarantees: A datagram is passed to the handler once, whole or marked as cut, with its sender.
    @Test(arguments: Family.allCases)
    func `a datagram arrives with its sender, who gets the answer`(family: Family) throws {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            let directory = try ScratchDirectory()
            let server = try DatagramSocket(family.address(in: directory))
            server.onReceive { server, bytes, sender in
                #expect(!server.isTruncated)
                server.send(bytes, to: sender)
                server.send("and \(sender.port == nil)", to: sender)
            }
            try loop.add(server, forMode: .default)
            let address = family == .all ? try #require(server.loopback) : server.localAddress
            let client = try DatagramSocket(connectedTo: address)
            stage.watch(client, "")
            try loop.add(client, forMode: .default)
            #expect(client.send("hello"))
            let isUnix = family == .path || family == .abstract
            #expect(stage.take(2) == ["hello", "and \(isUnix)"])
            #expect(stage.senders == [address, address])
            #expect(server.statistics.received == 1 && server.statistics.sent == 2)
            #expect(client.peerAddress == address && server.peerAddress == nil)
            client.close()
            server.close()
            loop.run()
            #expect(stage.take() == ["end: closed on this side"])
        }
    }

    @Test func `an IPv6 socket of all interfaces sends to IPv4 addresses, too`() throws {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            let receiver = try stage.socket()
            let sender = try stage.socket(.udp(port: 0), "sender ")
            sender.send("x", to: receiver.localAddress)
            #expect(stage.take(1) == ["x"])
            receiver.send("y", to: sender.loopback)
            #expect(stage.take(1) == ["sender y"])
            #expect(stage.senders[1].host == "::ffff:127.0.0.1")
            receiver.close()
            sender.close()
        }
    }

    @Test func `a connected socket receives from its peer only`() throws {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            let server = try stage.socket()
            let client = try stage.socket(connectedTo: server, "client ")
            let stranger = try stage.socket(.udp(host: "127.0.0.1", port: 0), "stranger ")
            stranger.send("x", to: client.localAddress)
            server.send("server", to: client.localAddress)
            let refused = "stranger undelivered \(ECONNREFUSED) to \(client.localAddress)"
            #expect(stage.take(2).sorted() == ["client server", refused])
            for socket in [server, client, stranger] { socket.close() }
        }
    }

    // Guarantees: A datagram is passed to the handler once, whole or marked as cut, with its sender.
    @Test(arguments: 0...9) func `a datagram is whole up to the limit, and cut and marked beyond it`(
        count: Int
    ) throws {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            var options = DatagramSocket.Options()
            options.datagramByteLimit = 6
            let receiver = try stage.socket(options: options)
            let sender = try stage.socket()
            let all = String("abcdefghi".prefix(count))
            sender.send(all, to: receiver.localAddress)
            sender.send("next", to: receiver.localAddress)
            #expect(stage.take(2) == [count > 6 ? "abcdef cut" : all, "next"])
            #expect(receiver.statistics.truncated == (count > 6 ? 1 : 0))
            #expect(!receiver.isTruncated)
            receiver.close()
            sender.close()
        }
    }

    @Test func `the largest datagram of UDP arrives whole`() throws {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            let receiver = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
            let sender = try stage.socket(.udp(host: "127.0.0.1", port: 0), "sender ")
            let bytes = (0..<65_507).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            var received: [[UInt8]] = []
            receiver.onReceive { _, bytes, _ in received.append([UInt8](bytes)) }
            try loop.add(receiver, forMode: .default)
            sender.send(bytes, to: receiver.localAddress)
            sender.send(bytes + [1], to: receiver.localAddress)
            loop.run(until: "it arrives") { !received.isEmpty && !stage.list.isEmpty }
            #expect(received == [bytes])
            #expect(stage.take() == ["sender undelivered \(EMSGSIZE) to \(receiver.localAddress)"])
            receiver.close()
            sender.close()
        }
    }

    @Test func `what arrives before there is a handler or a loop is delivered then, in order`() throws {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            let receiver = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
            let sender = try DatagramSocket(connectedTo: receiver.localAddress)
            for number in 0..<100 { sender.send("\(number)") }
            #expect(sender.unsentCount == 100)
            try loop.add(sender, forMode: .default)
            loop.pass()
            #expect(sender.unsentCount == 0)
            try loop.add(receiver, forMode: .default)
            loop.settle()
            stage.watch(receiver, "")
            #expect(stage.take(100) == (0..<100).map { "\($0)" })
            receiver.close()
            sender.close()
        }
    }

    // Guarantees: Datagrams of one sender that the kernel delivers in order are handled in order, also after a pause or a removal.
    @Test(arguments: [1, 31, 32, 33, 64, 99])
    func `a paused or removed socket calls no handler, and goes on in order`(pause: Int) throws {
        try onLoopThread { loop in
            let receiver = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
            let sender = try DatagramSocket(connectedTo: receiver.localAddress)
            var received: [String] = []
            for isRemoved in [false, true] {
                received = []
                receiver.onReceive { receiver, bytes, _ in
                    received.append(text(bytes))
                    if received.count != pause { return }
                    if isRemoved {
                        loop.remove(receiver, forMode: .default)
                    } else {
                        receiver.isReadingPaused = true
                    }
                }
                try loop.add(receiver, forMode: .default)
                try loop.add(sender, forMode: .default)
                for number in 0..<100 { sender.send("\(number)") }
                loop.settle()
                for _ in 0..<5 { loop.pass() }
                #expect(received.count == pause)
                if isRemoved {
                    try loop.add(receiver, forMode: .default)
                } else {
                    #expect(receiver.isReadingPaused)
                    receiver.isReadingPaused = false
                }
                loop.run(until: "the rest") { received.count == 100 }
                #expect(received == (0..<100).map { "\($0)" })
            }
            receiver.close()
            sender.close()
        }
    }

    @Test func `a handler that runs the loop is called again only when it has returned`() throws {
        try onLoopThread { loop in
            let receiver = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
            let sender = try DatagramSocket(connectedTo: receiver.localAddress)
            var (received, depth, deepest): ([String], Int, Int) = ([], 0, 0)
            receiver.onReceive { _, bytes, _ in
                depth += 1
                deepest = max(deepest, depth)
                if received.count < 40 {
                    sender.send("nested")
                    loop.settle()
                    for _ in 0..<3 { loop.pass() }
                }
                // The bytes are still those of this datagram.
                received.append(text(bytes))
                depth -= 1
            }
            try loop.add(receiver, forMode: .default)
            try loop.add(sender, forMode: .default)
            for number in 0..<50 { sender.send("\(number)") }
            loop.run(until: "all arrive") { received.count == 90 }
            #expect(deepest == 1)
            #expect(received.filter { $0 != "nested" } == (0..<50).map { "\($0)" })
            receiver.close()
            sender.close()
        }
    }

    @Test func `handlers are called only in the modes of the socket, and errors, too`() throws {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            let other = RunLoop.Mode("other")
            loop.add(Timer(timeInterval: .seconds(3600), repeats: false) { _ in }, forMode: .default)
            let receiver = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
            let sender = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
            stage.watch(receiver, "")
            stage.watch(sender, "sender ")
            try loop.add(receiver, forMode: other)
            try loop.add(sender, forMode: other)
            let dead = try deadAddress()
            sender.send("x", to: receiver.localAddress)
            sender.send("y", to: dead)
            for _ in 0..<5 { loop.pass() }
            #expect(stage.take() == [])
            #expect(sender.statistics.sent == 2, "datagrams are sent at the end of any pass")
            loop.settle(in: other)
            #expect(stage.take().sorted() == ["sender undelivered \(ECONNREFUSED) to \(dead)", "x"])
            receiver.close()
            sender.close()
            loop.pass()
            #expect(stage.take().count == 2, "the end is told in any mode")
        }
    }
}
