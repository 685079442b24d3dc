import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// The limits of a port.
@Suite struct MessagePortLimitTests {
    @Test func `a message beyond the port's limits does not leave its sender, which can send on`() throws {
        var limits = MessagePort.Options()
        limits.messageByteLimit = 1_000
        limits.descriptorLimit = 1
        let log = Log<Int>()
        let arrived = Gate()
        let server = try PortServer(limits: limits) { message in
            log.add(message.byteCount)
            arrived.open()
        }
        let remote = try server.connect()
        #expect((remote.messageByteLimit, remote.descriptorLimit) == (1_000, 1))
        let tooLarge = [UInt8](repeating: 0, count: 1_001)
        #expect(
            refusal { () throws(MessagePortError) in try remote.send(tooLarge) } == .tooLarge(limit: 1_000))
        #expect(
            refusal { () throws(MessagePortError) in try remote.send(descriptors: [0, 1]) }
                == .tooManyDescriptors(limit: 1))
        try remote.send([UInt8](repeating: 0, count: 1_000))
        #expect(arrived.wait())
        #expect(log.entries == [1_000])
        #expect(server.port.statistics.malformedPackets == 0)
    }

    @Test func `a reply beyond the requester's limits throws, and the request fails`() throws {
        let log = Log<MessagePortError>()
        let server = try PortServer { message in
            do throws(MessagePortError) {
                try message.reply([UInt8](repeating: 0, count: 101))
            } catch { log.add(error) }
        }
        let remote = try RemotePort(
            named: server.name, in: server.names.names, before: .hang, messageByteLimit: 100)
        #expect(throws: MessagePortError(.noReply)) { _ = try remote.request(before: .hang) }
        waitUntil("it was refused there") { log.entries == [.tooLarge(limit: 100)] }
    }

    @Test func `a body larger than any packet is refused when the port is made`() throws {
        let names = try OwnNames()
        var limits = MessagePort.Options()
        limits.messageByteLimit = 1 << 30
        let name = try PortName("large")
        do {
            _ = try MessagePort(named: name, in: names.names, options: limits)
            Issue.record("no packet is so large")
        } catch {
            guard error.reason == .tooLarge, let limit = error.limit else { throw error }
            // The limit that the error names is accepted.
            limits.messageByteLimit = limit
            _ = try MessagePort(named: name, in: names.names, options: limits)
        }
    }

    @Test func `the largest message that the kernel has room for arrives whole, and so does its reply`()
        throws
    {
        var limits = MessagePort.Options()
        limits.messageByteLimit = 150_000
        let server = try PortServer(limits: limits) { message in
            let answer = message.bytes
            do { try message.reply(answer) } catch { Issue.record(error) }
        }
        let remote = try RemotePort(
            named: server.name, in: server.names.names, before: .hang, messageByteLimit: 150_000)
        let sent = (0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let reply = try remote.request(sent, before: .hang)
        let isSame = reply.bytes == sent
        #expect(isSame)
    }

    @Test func `the limits that a peer states make no room in the kernel, and a large reply does`() throws {
        var limits = MessagePort.Options()
        limits.messageByteLimit = 400_000
        let server: PortServer
        do {
            server = try PortServer(limits: limits) { message in
                let answer = message.bytes
                do { try message.reply(answer) } catch { Issue.record(error) }
            }
        } catch MessagePortError.Reason.tooLarge {
            // The kernel has no room for such packets.
            return
        }
        // A peer that states the largest limits is served like any other, with the kernel's default buffers.
        let claiming = try server.names.names.connect(to: server.name, before: .hang)
        let all = Frame.Limits(bodyLength: .max, descriptorCount: 253)
        let ends = try PacketSocket.pair()
        let connection = PortConnection(
            PacketSocket(adopting: OwnedDescriptor(dup(ends.near.descriptor))),
            MessagePort.Peer(id: 7, credentials: try ends.near.peer), MessagePort.Options(),
            try EpollSet(), PortCounters())
        let room = try ends.far.mostBytes
        connection.greeted(all)
        #expect(try ends.near.mostBytes == room)
        #expect(claiming.send(Frame(.hello, limits: all)) == .sent)
        // The buffers grow for a message that is sent.
        let remote = try RemotePort(
            named: server.name, in: server.names.names, before: .hang, messageByteLimit: 400_000)
        #expect(try remote.connection.socket.mostBytes == room)
        let sent = [UInt8](repeating: 7, count: 400_000)
        let isSame = try remote.request(sent, before: .hang).bytes == sent
        #expect(isSame)
        #expect(try remote.connection.socket.mostBytes >= 400_000)
    }

    // Guarantees: A message that is not sent before its deadline is not sent at all.
    @Test
    func `a sender to a port that is not served blocks, and a late message is not sent at all`()
        throws
    {
        let log = Log<UInt32>()
        let server = try PortServer { log.add($0.id) }
        let remote = try server.connect()
        try server.pause()
        let part = [UInt8](repeating: 1, count: 10_000)
        var sent: UInt32 = 0
        while true {
            let start = ContinuousClock.now
            let refused = refusal { () throws(MessagePortError) in
                try remote.send(part, id: sent, before: start + .milliseconds(20))
            }
            if refused == nil {
                sent += 1
                continue
            }
            #expect(refused == MessagePortError(.timedOut))
            #expect(ContinuousClock.now - start >= .milliseconds(20))
            break
        }
        // With a deadline that has passed, the message is tried once.
        #expect(
            refusal { () throws(MessagePortError) in try remote.send(part, before: .distantPast) }
                == MessagePortError(.timedOut))
        #expect(sent > 0 && sent < 1_000)
        // A waiting sender continues when the port is served again. No message is lost or duplicated.
        let last = sent
        let waiting = try Threads(1) { _ in try remote.send(part, id: last, before: .hang) }
        try server.serve { log.add($0.id) }
        try waiting.join()
        waitUntil("all have come") { log.entries.count == Int(last) + 1 }
        #expect(log.entries == Array(0...last))
    }

    // Guarantees: Nothing is read from a peer that the filter rejects.
    @Test func `a peer that the filter rejects gets notAdmitted, and nothing of it is read`() throws {
        let server = try PortServer(
            nil, { _ in Issue.record("nothing is delivered") }, admitting: { _ in false })
        #expect(throws: MessagePortError(.notAdmitted)) { _ = try server.connect() }
        #expect(server.port.statistics.refusedPeers == 1)
        #expect(server.port.statistics.admittedPeers == 0)
    }

    @Test func `beyond the limit of connections, clients wait until one has ended`() throws {
        var limits = MessagePort.Options()
        limits.connectionLimit = 2
        let server = try PortServer(limits: limits) { message in
            do { try message.reply() } catch { Issue.record(error) }
        }
        let first = try server.connect()
        let second = try server.connect()
        let passes = server.thread.runLoop.statistics.passes
        #expect(throws: MessagePortError(.timedOut)) {
            _ = try server.connect(before: .now + .milliseconds(20))
        }
        // A waiting client does not keep the loop awake.
        #expect(server.thread.runLoop.statistics.passes - passes < 20)
        first.invalidate()
        let third = try server.connect()
        _ = try second.request(before: .hang)
        _ = try third.request(before: .hang)
        #expect(server.port.statistics.connections <= 2)
    }

    @Test(arguments: [true, false])
    func `a connection counts toward the limit while the filter decides, even in a nested run`(
        isWelcome: Bool
    ) throws {
        var limits = MessagePort.Options()
        limits.connectionLimit = 1
        limits.greetingTimeout = .seconds(600)
        let asked = Shared()
        let server = try PortServer(
            limits: limits, nil,
            admitting: { _ in
                if asked.increment() > 0 { return true }
                for _ in 0..<3 { RunLoop.current.pass() }
                #expect(asked.count == 1)
                return isWelcome
            })
        let peers = try (0..<2).map { _ in
            HostilePeer(try server.names.names.connect(to: server.name, before: .hang))
        }
        try server.serve { _ = $0.id }
        // A rejected connection releases its place, and the other connection gets the place.
        waitUntil("one was let in") { server.port.statistics.connections == 1 }
        try server.onThread { loop in for _ in 0..<3 { loop.pass() } }
        #expect(server.port.statistics.connections == 1)
        #expect(asked.count == (isWelcome ? 1 : 2))
        withExtendedLifetime(peers) {}
    }

    @Test func `silent connections are closed in time, and do not keep out others for ever`() throws {
        var limits = MessagePort.Options()
        limits.connectionLimit = 4
        limits.greetingTimeout = .seconds(2)
        let server = try PortServer(limits: limits) { message in
            do { try message.reply() } catch { Issue.record(error) }
        }
        let silent = SilentPeers(server, count: 8)
        let remote = try server.connect()
        _ = try remote.request(before: .hang)
        #expect(server.port.statistics.silentPeers >= 1)
        withExtendedLifetime(silent) {}
    }

    @Test func `a connection that is late while the port is in no loop is closed in the next loop`() throws {
        var limits = MessagePort.Options()
        limits.greetingTimeout = .seconds(2)
        let server = try PortServer(limits: limits) { _ = $0.id }
        let remote = try server.connect()
        let silent = SilentPeers(server, count: 1)
        // On a busy machine the silent connection can be late already.
        waitUntil("both were there") {
            server.port.statistics.connections == 2 || server.port.statistics.silentPeers == 1
        }
        try server.pause()
        // This message is first in line. Its handler removes the port from the loop before the other reported events are served.
        try remote.send(id: 1)
        let late = ContinuousClock.now + .milliseconds(2_100)
        waitUntil("the silent one is late") { ContinuousClock.now > late }
        let served = Gate()
        let port = server.port
        try server.serve { message in
            RunLoop.current.remove(port, forMode: .common)
            if message.id == 1 { served.open() }
        }
        #expect(served.wait())
        try server.serve { _ = $0.id }
        waitUntil("the silent one is closed") { server.port.statistics.connections == 1 }
        withExtendedLifetime((silent, remote)) {}
    }

    private final class SilentPeers {
        private let sockets: [Socket]

        init(_ server: PortServer, count: Int) {
            sockets = (0..<count).compactMap { _ in
                do {
                    return Socket(try server.names.names.connect(to: server.name, before: .hang))
                } catch {
                    Issue.record(error)
                    return nil
                }
            }
        }

        private final class Socket {
            let socket: PacketSocket
            init(_ socket: consuming PacketSocket) { self.socket = socket }
        }
    }

    @Test func `replies that are not read are kept up to the limit, and then the connection is closed`()
        throws
    {
        var limits = MessagePort.Options()
        limits.keptReplyByteLimit = 200_000
        let server = try PortServer(limits: limits) { message in
            // If this throws, the connection was closed because of the reply.
            do { try message.reply([UInt8](repeating: 1, count: 50_000)) } catch {}
        }
        let honest = try server.connect()
        let socket = try server.names.names.connect(to: server.name, before: .hang)
        _ = socket.send(Frame(.hello, limits: Frame.Limits(bodyLength: 65_536, descriptorCount: 0)))
        for number in 1...100 {
            while case .wouldBlock = socket.send(Frame(kind: .request, number: UInt64(number))) {
                _ = try socket.wait(for: .write, before: .hang)
            }
        }
        waitUntil("the connection is closed") { server.port.statistics.unreadPeers == 1 }
        _ = try honest.request(before: .hang)
        waitUntil("it is gone") { server.port.statistics.connections == 1 }
    }

    @Test func `kept replies arrive when there is room again`() throws {
        let server = try PortServer { message in
            let id = message.id
            do { try message.reply([UInt8](repeating: 1, count: 50_000), id: id) } catch {
                Issue.record(error)
            }
        }
        let socket = try server.names.names.connect(to: server.name, before: .hang)
        _ = socket.send(Frame(.hello, limits: Frame.Limits(bodyLength: 65_536, descriptorCount: 0)))
        for number in 1...12 {
            _ = socket.send(Frame(kind: .request, id: UInt32(number), number: UInt64(number)))
        }
        waitUntil("all were served") { server.port.statistics.messages == 12 }
        let pool = PacketPool(forBodiesOf: 65_536)
        var ids: [UInt32] = []
        while ids.count < 13 {
            let packet = pool.take()
            // Safe: the packet belongs to the test.
            switch unsafe socket.receive(into: packet.memory) {
            case .packet(let length, let descriptors):
                try packet.fill(length: length, descriptors)
                ids.append(packet.frame.id)
            case .wouldBlock: _ = try socket.wait(for: .read, before: .hang)
            default: throw Unexpected()
            }
        }
        #expect(ids.dropFirst() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    }
}
