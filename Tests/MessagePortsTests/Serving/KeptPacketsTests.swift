import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// What a port keeps for all its peers together, and for peers that have left.
@Suite struct KeptPacketsTests {
    private func key(_ process: CInt) -> PeerGroup.Key {
        PeerGroup.Key(PeerCredentials(processID: process, userID: geteuid(), groupID: 0))
    }

    private func limits() -> MessagePort.Options {
        var limits = MessagePort.Options()
        (limits.keptReplyByteLimit, limits.keptMessageByteLimit) = (600, 400)
        return limits
    }

    @Test func `a group of peers gets half of what a port keeps, and leaves as much for the next one`() {
        let kept = KeptPackets(limits())
        var places: [KeptPackets.Place] = []
        func fill(_ process: CInt) -> Int {
            for count in 0... {
                guard
                    case .kept(let place) = kept.add(
                        .init(bytes: 100, descriptors: 0), of: key(process), isFirst: false)
                else { return count }
                places.append(place)
            }
            return 0
        }
        // 16 times 1,000 bytes in all.
        #expect(fill(1) == 80)
        #expect(fill(2) == 40)
        #expect(fill(3) == 20)
        // The first packet of a connection is kept in any case.
        guard case .kept = kept.add(.init(bytes: 9_999, descriptors: 0), of: key(1), isFirst: true) else {
            return #expect(Bool(false))
        }
        places = []
        #expect(kept.amount.bytes == 0)
        #expect(fill(2) == 80)
    }

    // Guarantees: The descriptors in the replies and messages that a port keeps for peers are bounded for all peers together.
    @Test func `descriptors in replies that many connections do not read are bounded in all`() throws {
        let kept = KeptPackets(MessagePort.Options())
        let set = try EpollSet()
        var connections: [PortConnection] = []
        var (sent, refused) = (0, 0)
        let bytes = [UInt8](repeating: 0, count: 60_000)
        let descriptors = [CInt](repeating: STDERR_FILENO, count: 200)
        for number: UInt64 in 1...16 {
            let pair = try PacketSocket.pair()
            let peer = MessagePort.Peer(id: number, credentials: try pair.near.peer)
            let far = dup(pair.far.descriptor)
            defer { close(far) }
            let near = PacketSocket(adopting: OwnedDescriptor(dup(pair.near.descriptor)))
            let connection = PortConnection(near, peer, MessagePort.Options(), set, PortCounters(), kept)
            try set.add(connection.socket.descriptor, .reading, token: number)
            connection.greeted(Frame.Limits(bodyLength: .max, descriptorCount: 253))
            // The kernel's room is full, so that the port keeps what follows.
            while connection.outbox.withLock({ $0.backlog.isEmpty }) {
                // Safe: bytes have no padding.
                try connection.reply(to: 1, unsafe bytes.span.bytes, id: 0, descriptors: [])
            }
            do {
                try connection.reply(to: 1, RawSpan(), id: 0, descriptors: descriptors)
                sent += 1
            } catch {
                #expect(error == .system(SystemError(call: "fcntl", code: EMFILE)))
                refused += 1
            }
            connections.append(connection)
        }
        #expect(sent >= 1 && sent <= 2 && sent + refused == 16)
        #expect(kept.amount.descriptors == 200 * sent)
        for connection in connections { _ = connection.end() }
        connections = []
        #expect(kept.amount.descriptors == 0 && kept.amount.bytes == 0)
    }

    // Guarantees: A process that sends requests, disconnects and connects again holds no more descriptors of the port's process
    // than one that stays connected.
    @Test func `a requester that has left takes a place as long as its request is held`() throws {
        var limits = MessagePort.Options()
        limits.connectionLimitPerProcess = 3
        let rights = Log<RightHolder>()
        let server = try PortServer(limits: limits) { message in
            var message = message
            let holder = RightHolder()
            holder.keep(message.takeReplyRight())
            rights.add(holder)
        }
        for count in 1...3 {
            let remote = try server.connect()
            #expect(throws: MessagePortError(.timedOut)) {
                _ = try remote.request(before: .now + .milliseconds(20))
            }
            waitUntil("the request is held") { rights.entries.count == count }
            remote.invalidate()
            waitUntil("it is gone") { server.port.statistics.connections == 0 }
        }
        #expect(throws: MessagePortError(.tooManyConnections)) { _ = try server.connect() }
        for holder in rights.entries { _ = holder.reply() }
        let remote = try server.connect()
        #expect(remote.isValid)
    }
}
