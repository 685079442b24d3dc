import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// A socket reports each datagram that a killed process can no longer get, and the next process gets all.
@Suite struct KilledReceiverTests {
    /// How the sender is joined to the process.
    private enum Way: CaseIterable { case connectedUnix, unix, connectedUDP, udp }

    /// A process with a socket that is bound and never read.
    private struct Receiver {
        let address: SocketAddress
        private let child: Child

        init(_ way: Way, _ name: String) throws {
            let socket =
                switch way {
                case .connectedUnix, .unix: try DatagramSocket(.abstract(name: name))
                case .connectedUDP, .udp: try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
                }
            address = socket.localAddress
            // The child has a copy of the socket, which is then the only one.
            child = Child { while true { pause() } }
            socket.close()
        }

        func kill() throws {
            Glibc.kill(child.processID, SIGKILL)
            try #require(child.wait() == .killed(SIGKILL))
        }
    }

    @Test func `what a killed process cannot get is told, each datagram once, and the next process gets all`()
        async
    {
        await #expect(processExitsWith: .success) {
            try onLoopThread { loop in
                loop.add(Timer(timeInterval: .seconds(3600), repeats: false) { _ in }, forMode: .default)
                let stage = DatagramStage(loop)
                let directory = try ScratchDirectory()
                try stage.socket().close()
                loop.settle()
                let bound = try boundOfDescriptors()
                fillDescriptors(below: bound)
                for round in 0..<20 {
                    _ = stage.take()
                    let way = Way.allCases[round % Way.allCases.count]
                    try KilledReceiverTests.use(way, stage, "\(directory.path)/\(round)")
                    loop.settle()
                    try #require(openDescriptors(from: bound) == 0, "\(way)")
                }
            }
        }
    }

    private static func use(_ way: Way, _ stage: DatagramStage, _ name: String) throws {
        let receiver = try Receiver(way, name)
        let address = receiver.address
        let isConnected = way == .connectedUnix || way == .connectedUDP
        func makeSender() throws -> DatagramSocket {
            var options = DatagramSocket.Options()
            options.unsentLimit = 50
            let sender =
                isConnected
                ? try DatagramSocket(connectedTo: address, options: options)
                : try DatagramSocket(
                    address.port == nil
                        ? .abstract(name: name + ".sender") : .udp(host: "127.0.0.1", port: 0),
                    options: options)
            stage.watch(sender, "")
            try stage.loop.add(sender, forMode: .default)
            return sender
        }
        var sender = try makeSender()
        var accepted = 0
        func send() {
            if sender.send("x", to: isConnected ? nil : address) { accepted += 1 }
            stage.loop.settle()
        }
        for _ in 0..<500 { send() }
        let waiting = sender.unsentCount
        // The kernel keeps all datagrams over UDP, and a Unix socket that is not connected does not wait.
        try #require(waiting == (way == .connectedUnix ? 50 : 0))
        let refused = way == .unix ? sender.statistics.undelivered : 0
        try #require((refused > 0) == (way == .unix))
        try #require(stage.take() == Array(repeating: "undelivered \(EAGAIN) to \(address)", count: refused))
        try receiver.kill()
        if way != .connectedUnix { send() }
        let list = stage.take(way == .connectedUnix ? waiting + 1 : 1)
        if way == .connectedUnix {
            // The first refusal ends the connection of the socket.
            let error = "undelivered \(ENOTCONN) to \(address)"
            try #require(list.filter { $0 != "room" } == Array(repeating: error, count: waiting))
        } else {
            try #require(list == ["undelivered \(ECONNREFUSED) to \(address)"])
        }
        // Over UDP, the datagram that found nobody was sent.
        let sent = sender.statistics.sent - (address.port == nil ? 0 : 1)
        try #require(sent + sender.statistics.undelivered == accepted)
        try #require(sender.unsentCount == 0 && sender.isOpen)
        // A connected Unix socket stays without its peer.
        if way == .connectedUnix { sender.close() }
        let next = try DatagramSocket(.address(address))
        stage.watch(next, "next ")
        try stage.loop.add(next, forMode: .default)
        if way == .connectedUnix { sender = try makeSender() }
        stage.loop.settle()
        _ = stage.take()
        for _ in 0..<40 { send() }
        try #require(stage.take(40) == Array(repeating: "next x", count: 40))
        sender.close()
        next.close()
    }
}
