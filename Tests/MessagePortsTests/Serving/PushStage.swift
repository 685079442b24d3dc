import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// A port that records the senders of its messages, for tests that send messages to these peers.
final class PushStage: Sendable {
    let server: PortServer
    /// The peers that have sent a message, in the order of their first messages.
    let peers = Log<MessagePort.Peer>()
    /// The numbers of the messages that peers have sent.
    let received = Log<UInt32>()
    /// The connections of the peers that have room again; in `ended`, those that have ended.
    let room = Log<UInt64>()
    let ended = Log<UInt64>()

    init(_ limits: MessagePort.Options = MessagePort.Options()) throws {
        let (peers, received) = (self.peers, self.received)
        server = try PortServer(limits: limits) { message in
            received.add(message.id)
            if !peers.entries.contains(message.sender) { peers.add(message.sender) }
            let answer = message.id
            if message.isRequest { do { try message.reply(id: answer) } catch { Issue.record(error) } }
        }
        let (room, ended) = (self.room, self.ended)
        try server.onThread { [port = server.port] _ in
            port.onPeerRoom { [unowned port] in if $0 === port { room.add($1.id) } }
            port.onPeerEnd { [unowned port] in if $0 === port { ended.add($1.id) } }
        }
    }

    var port: MessagePort { server.port }

    /// The peer of a connection that has sent a message.
    func peer(_ index: Int = 0) throws -> MessagePort.Peer {
        waitUntil("peer \(index) has sent") { peers.entries.count > index }
        return try #require(peers.entries.dropFirst(index).first)
    }

    /// Makes a client that the port knows, and that does not read yet.
    func silentClient() throws -> PushClient {
        let known = peers.entries.count
        let client = try PushClient(server)
        try client.send()
        _ = try peer(known)
        return client
    }

    /// Sends messages to a peer until the port reaches a limit of what it keeps.
    ///
    /// - Returns: The number of accepted messages, which are numbered from 0.
    func fill(_ peer: MessagePort.Peer, bytes: [UInt8] = []) throws -> UInt32 {
        var count: UInt32 = 0
        while try port.trySend(bytes, id: count, to: peer) { count += 1 }
        return count
    }
}

/// A remote port in the loop of its own thread.
final class PushClient: Sendable {
    let thread: RunLoopThread
    let remote: RemotePort
    /// The numbers of the messages that have arrived.
    let log = Log<UInt32>()
    let connected = Gate()
    let room = Shared()
    let ended = Log<MessagePortError>()
    let hasEnded = Gate()

    /// Connects, and waits until the port has admitted the client.
    ///
    /// The client then reads nothing until ``read(_:)``.
    init(_ server: PortServer) throws {
        thread = try RunLoopThread(name: "client")
        let remote = try RemotePort(connectingTo: server.name, in: server.names.names)
        self.remote = remote
        try add(to: .common) { _ in }
        #expect(connected.wait())
        try onThread { loop in loop.remove(remote, forMode: .common) }
    }

    deinit { thread.stop() }

    func onThread<Result: Sendable>(_ body: @escaping @Sendable (RunLoop) throws -> Result) throws -> Result {
        try thread.runLoop.performAndWait { try body(RunLoop.current) }
    }

    private func add(
        to mode: RunLoop.Mode, _ handler: @escaping @Sendable (borrowing MessagePort.Message) -> Void
    ) throws {
        let (remote, log, connected, room) = (remote, log, connected, room)
        let (ended, hasEnded) = (ended, hasEnded)
        try onThread { loop in
            try loop.add(remote, forMode: mode) { message in
                log.add(message.id)
                handler(message)
            }
            remote.onConnect { _ in connected.open() }
            remote.onRoom { _ in room.increment() }
            remote.onEnd { _, error in
                ended.add(error)
                hasEnded.open()
            }
        }
    }

    /// Starts to read.
    func read(_ handler: @escaping @Sendable (borrowing MessagePort.Message) -> Void = { _ in }) throws {
        try add(to: .common, handler)
    }

    /// Waits for room, and sends a message.
    func send(id: UInt32 = 0) throws { try remote.send(id: id, before: .hang) }
}

extension RunLoop {
    /// Runs the loop in a mode until a remote port of the loop is connected.
    func connect(_ remote: RemotePort, in mode: RunLoop.Mode) {
        var isConnected = false
        remote.onConnect { _ in isConnected = true }
        while !isConnected { _ = run(mode: mode, before: .hang) }
    }
}
