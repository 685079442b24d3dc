import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Sockets of one loop, which record what they receive and are told.
final class DatagramStage {
    let loop: RunLoop
    /// What has happened, in order.
    var list: [String] = []
    /// The senders of the received datagrams.
    var senders: [SocketAddress] = []

    init(_ loop: RunLoop) { self.loop = loop }

    /// Opens a socket that records all calls of its handlers, with a prefix.
    func socket(
        _ address: DatagramSocket.Address = .udp(host: "127.0.0.1", port: 0), _ name: String = "",
        options: DatagramSocket.Options = .init()
    ) throws -> DatagramSocket {
        let made = try DatagramSocket(address, options: options)
        watch(made, name)
        try loop.add(made, forMode: .default)
        return made
    }

    func socket(
        connectedTo peer: DatagramSocket, _ name: String = "", options: DatagramSocket.Options = .init()
    ) throws -> DatagramSocket {
        let made = try DatagramSocket(connectedTo: peer.localAddress, options: options)
        watch(made, name)
        try loop.add(made, forMode: .default)
        return made
    }

    func watch(_ socket: DatagramSocket, _ name: String) {
        socket.onReceive { [self] socket, bytes, sender in
            list.append("\(name)\(text(bytes))\(socket.isTruncated ? " cut" : "")")
            senders.append(sender)
        }
        socket.onUndelivered { [self] _, error, receiver in
            list.append("\(name)undelivered \(error.code) to \(receiver.map { "\($0)" } ?? "?")")
        }
        socket.onRoom { [self] _ in list.append("\(name)room") }
        socket.onEnd { [self] _, reason in list.append("\(name)end: \(reason)") }
    }

    /// Takes what was recorded since the last call.
    func take() -> [String] {
        defer { list = [] }
        return list
    }

    /// Runs the loop until a number of entries is recorded, and takes them.
    func take(_ count: Int) -> [String] {
        loop.run(until: "\(count) entries") { list.count >= count }
        loop.settle()
        return take()
    }
}

extension DatagramSocket {
    /// The address of a socket that is bound to all interfaces, on this machine.
    var loopback: SocketAddress? {
        localAddress.port.flatMap { SocketAddress(host: "127.0.0.1", port: $0) }
    }
}

/// A port of the loopback address at which no socket receives.
func deadAddress() throws -> SocketAddress {
    let socket = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
    defer { socket.close() }
    return socket.localAddress
}
