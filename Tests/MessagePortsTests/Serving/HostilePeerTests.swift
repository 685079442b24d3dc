import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// A hostile peer loses its connection, and other peers are not disturbed.
@Suite struct HostilePeerTests {
    private static let hello = bytes(of: Frame(.hello, limits: .init(bodyLength: 1_000, descriptorCount: 0)))

    /// Malformed first packets of a connection.
    private static let wrongFirst: [(what: String, bytes: [UInt8])] = [
        ("nothing at all", []),
        ("a truncated head", Array(hello.prefix(23))),
        ("one byte", [0x52]),
        ("another protocol", Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)),
        ("another version", [0x52, 0x4C, 2] + hello.dropFirst(3)),
        ("zeros", [UInt8](repeating: 0, count: 24)),
        ("a hello with a body", hello + [1]),
        ("a message before the hello", bytes(of: Frame(kind: .message))),
        ("a request before the hello", bytes(of: Frame(kind: .request, number: 1))),
        ("a welcome", bytes(of: Frame(.welcome, limits: .init(bodyLength: 1, descriptorCount: 1)))),
    ]

    /// Malformed packets after the hello.
    private static let wrongLater: [(what: String, bytes: [UInt8])] = [
        ("a second hello", hello),
        ("a reply", bytes(of: Frame(kind: .reply, number: 1))),
        ("that there is no reply", bytes(of: Frame(kind: .noReply, number: 1))),
        ("a huge length", bytes(of: Frame(kind: .message, bodyLength: 0xFFFF_FFFF))),
        ("a length that is one too much", bytes(of: Frame(kind: .message, bodyLength: 3)) + [1, 2]),
        ("a body that is not told of", bytes(of: Frame(kind: .message)) + [1, 2]),
        ("descriptors that do not come", bytes(of: Frame(kind: .message, descriptorCount: 65_535))),
        ("a request without a number", bytes(of: Frame(kind: .request))),
        ("flags", Array(bytes(of: Frame(kind: .message)).dropLast()) + [0x80]),
    ]

    // Guarantees: A malformed packet ends the connection that it arrived on.
    @Test func `a packet that is malformed or out of place ends its connection, and is counted`() throws {
        let stage = try HostileStage()
        var count = 0
        for (what, packet) in Self.wrongFirst {
            let peer = try stage.connect()
            #expect(sendRaw(peer, packet), "\(what)")
            #expect(try peer.ending() == .malformed, "\(what)")
            count += 1
            #expect(stage.statistics.malformedPackets == count, "\(what)")
        }
        // No peer was admitted.
        #expect(stage.gone.entries == [])
        for (index, (what, packet)) in Self.wrongLater.enumerated() {
            let peer = try stage.connectAndGreet()
            #expect(peer.socket.send(Frame(kind: .message, id: UInt32(index))) == .sent)
            #expect(sendRaw(peer, packet), "\(what)")
            #expect(try peer.ending() == .malformed, "\(what)")
            count += 1
            #expect(stage.statistics.malformedPackets == count, "\(what)")
            waitUntil("its end is reported") { stage.gone.entries.count == index + 1 }
        }
        // The message before each malformed packet was served, and nothing else.
        #expect(stage.served.entries == Self.wrongLater.indices.map { UInt32($0) })
        try stage.end()
    }

    @Test func `packets behind a malformed one are not read`() throws {
        let stage = try HostileStage()
        let peer = try stage.connectAndGreet()
        #expect(sendRaw(peer, [1, 2, 3]))
        // The port can have closed the connection already.
        for number: UInt32 in 1...10 { _ = peer.socket.send(Frame(kind: .message, id: number)) }
        #expect(try peer.ending() == .malformed)
        try stage.end()
        #expect(stage.served.entries == [] && stage.statistics.malformedPackets == 1)
    }

    @Test func `a message beyond the limits that the port stated ends its connection`() throws {
        var limits = MessagePort.Options()
        limits.messageByteLimit = 100
        limits.descriptorLimit = 1
        let stage = try HostileStage(limits)
        let edge = try stage.connectAndGreet()
        let body = [UInt8](repeating: 1, count: 100_000)
        #expect(edge.sendBody(body.prefix(100)) == .sent)
        // A little too long, much too long, and with too many descriptors. A packet carries 253 descriptors at most.
        #expect(edge.sendBody(body.prefix(101)) == .sent)
        #expect(try edge.ending() == .tooLarge)
        let large = try stage.connectAndGreet()
        #expect(large.sendBody(body[...]) == .sent)
        #expect(try large.ending() == .tooLarge)
        for count in [2, 253] {
            let many = try stage.connectAndGreet()
            #expect(many.sendBody([], [CInt](repeating: STDERR_FILENO, count: count)) == .sent)
            #expect(try many.ending() == .tooLarge)
        }
        try stage.end()
        #expect(stage.statistics.malformedPackets == 4 && stage.served.entries == [0])
    }

    @Test func `descriptors that arrive with a rejected packet are closed`() async throws {
        try await #require(processExitsWith: .success) {
            let stage = try HostileStage()
            stage.seeThatHonestGoesOn()
            let bound = try boundOfDescriptors()
            // Enough for one packet with the maximum number of descriptors. Descriptors that stay open soon exceed the limit.
            try limitDescriptors(to: bound + 300)
            let most = [CInt](repeating: STDERR_FILENO, count: PacketSocket.mostDescriptors)
            for round in 0..<20 {
                // With a malformed head, a wrong count, before the hello, over the limit, and in a packet that is too long.
                let packets: [[UInt8]] = [
                    [1, 2, 3], bytes(of: Frame(kind: .message, descriptorCount: 1)),
                    bytes(of: Frame(kind: .message, descriptorCount: 253)), Self.hello,
                    [UInt8](repeating: 1, count: 100_000),
                ]
                let packet = packets[round % packets.count]
                let peer = try round.isMultiple(of: 2) ? stage.connect() : stage.connectAndGreet()
                let sent = peer.socket.give(packet, descriptors: most)
                // Until the port has admitted the peer, the kernel can refuse its descriptors.
                if sent != .sent {
                    #expect(
                        round.isMultiple(of: 2) && sent == .failed(SystemError(call: "sendmsg", code: EPERM)))
                    #expect(peer.socket.give([1, 2, 3]) == .sent)
                }
                let ending = try peer.ending()
                #expect(ending == .malformed || ending == .tooLarge, "\(round)")
                waitUntil("what has come is closed") { openDescriptors(from: bound) < 40 }
            }
            #expect(stage.statistics.malformedPackets == 20 && stage.statistics.lackingDescriptors == 0)
            // Descriptors that a handler does not take are closed, too.
            for round in 0..<20 {
                let peer = try stage.connectAndGreet()
                #expect(peer.sendBody([], [CInt](repeating: STDERR_FILENO, count: 32)) == .sent)
                #expect(peer.socket.send(Frame(kind: .request, number: 1)) == .sent)
                #expect(try peer.nextFrame()?.kind == .reply)
                waitUntil("what has come is closed") { openDescriptors(from: bound) < 40 + 2 * round }
            }
            try refuseNoDescriptors(from: bound)
            waitUntil("all have gone") { stage.statistics.connections == 1 }
            try stage.end()
            #expect(stage.served.entries.count == 40)
            // The runtime opens some descriptors late. The peers sent thousands.
            waitUntil("all are closed") { openDescriptors(from: bound) < 10 }
        }
    }

    @Test func `a message with more descriptors than the process can open ends only its own connection`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            var limits = MessagePort.Options()
            limits.descriptorLimit = 253
            let stage = try HostileStage(limits)
            let peer = try stage.connectAndGreet()
            let bound = try boundOfDescriptors()
            fillDescriptors(below: bound)
            try limitDescriptors(to: bound + 50)
            let most = [CInt](repeating: STDERR_FILENO, count: PacketSocket.mostDescriptors)
            #expect(peer.sendBody([], most) == .sent)
            #expect(try peer.ending() == .outOfResources)
            stage.seeThatHonestGoesOn()
            try refuseNoDescriptors(from: bound)
            #expect(stage.statistics.lackingDescriptors == 1)
            // With enough free descriptors, the same message is served.
            let next = try stage.connectAndGreet()
            #expect(next.sendBody([], most) == .sent)
            waitUntil("it was served") { stage.served.entries == [0] }
            next.socket.shutDown()
            try stage.end()
            waitUntil("nothing that has come is open") { openDescriptors(from: bound) < 10 }
        }
    }

    @Test func `a peer that sends requests and never reads is closed when too many replies are kept`() throws
    {
        var limits = MessagePort.Options()
        limits.keptReplyByteLimit = 100_000
        let stage = try HostileStage(limits)
        let peer = try stage.connectAndGreet(.init(bodyLength: 65_536, descriptorCount: 0))
        let body = [UInt8](repeating: 1, count: 50_000)
        var number: UInt64 = 0
        var sent = PacketSocket.Sent.sent
        while sent != .closed, number < 1_000 {
            // Safe: bytes have no padding.
            sent = peer.socket.send(Frame(kind: .request, number: number + 1), body: unsafe body.span.bytes)
            if sent == .wouldBlock { _ = try peer.socket.wait(for: .write, before: .hang) }
            if sent == .sent { number += 1 }
        }
        #expect(sent == .closed)
        waitUntil("it is gone") { stage.gone.entries.count == 1 }
        #expect(stage.statistics.unreadPeers == 1)
        try stage.end()
    }

    @Test func `a peer that fills its connection does not keep out others, nor do twenty peers`() throws {
        let stage = try HostileStage()
        let isOver = Shared()
        let flood = try Threads(4) { _ in
            let peers = try (0..<5).map { _ in try stage.connectAndGreet() }
            while isOver.count == 0 {
                for peer in peers { while peer.sendBody([]) == .sent {} }
            }
        }
        for _ in 0..<10 { stage.seeThatHonestGoesOn() }
        isOver.increment()
        try flood.join()
        try stage.end()
        #expect(stage.statistics.malformedPackets == 0)
    }

    @Test func `a peer that has filled its connection has one message served for one of each other peer`()
        throws
    {
        let log = Log<UInt32>()
        let server = try PortServer { log.add($0.id) }
        let greedy = HostilePeer(try server.names.names.connect(to: server.name, before: .hang))
        #expect(greedy.socket.send(Frame(.hello, limits: .init(bodyLength: 0, descriptorCount: 0))) == .sent)
        #expect(try greedy.nextFrame()?.kind == .welcome)
        let others = try (0..<3).map { _ in try server.connect() }
        try server.pause()
        var sent = 0
        while greedy.sendBody([]) == .sent { sent += 1 }
        for (index, other) in others.enumerated() { try other.send(id: UInt32(index + 1)) }
        try server.serve { log.add($0.id) }
        waitUntil("all were served") { log.entries.count == sent + 3 }
        let places = (1...3).compactMap { log.entries.firstIndex(of: UInt32($0)) }
        #expect(sent > 100 && places.count == 3 && places.allSatisfy { $0 <= 4 })
    }

    @Test func `a stream of messages is read in few passes, and others have their turn in between`() throws {
        let log = Log<UInt32>()
        let server = try PortServer { log.add($0.id) }
        let stream = try server.connect()
        try server.pause()
        var sent: UInt32 = 0
        while refusal({ () throws(MessagePortError) in try stream.send(id: sent, before: .distantPast) })
            == nil
        {
            sent += 1
        }
        let before = server.thread.runLoop.statistics.passes
        try server.serve { log.add($0.id) }
        waitUntil("all were served") { log.entries.count == Int(sent) }
        let passes = server.thread.runLoop.statistics.passes - before
        #expect(log.entries == Array(0..<sent))
        // A pass reads at least two messages, and continues while it has time.
        #expect(sent > 100 && passes < Int(sent) * 3 / 4, "\(passes) passes for \(sent) messages")
    }

    @Test
    func `a connection with request after request is read sixteen times in a row before the kernel is asked`()
        throws
    {
        let reads = try ReadQueue()
        let guesses = (0..<35).map { _ in
            reads.lastRequester = 7
            return reads.takeLastRequester() != nil
        }
        let inARow = [Bool](repeating: true, count: 16)
        #expect(guesses == [false] + inARow + [false] + inARow + [false])
        reads.lastRequester = nil
        #expect(reads.takeLastRequester() == nil)
    }

    // Guarantees: A message arrives whole, and messages of one thread arrive in the order in which they were sent.
    @Test func `a process that is killed while it sends leaves whole messages, in order, and an end`() throws
    {
        let stage = try HostileStage()
        let endings = Log<Program.Ending>()
        let process = try Threads(1) { _ in
            endings.add(try Program("PortPeer").run("flood", stage.server.names.directory))
        }
        waitUntil("it sends") { stage.served.entries.count > 100 }
        stage.seeThatHonestGoesOn()
        try process.join()
        #expect(endings.entries.first?.code == nil && endings.entries.first?.hung == false)
        waitUntil("its end is reported") { stage.gone.entries.count == 1 }
        let served = stage.served.entries
        #expect(served == served.indices.map { UInt32($0) })
        try stage.end()
        #expect(stage.statistics.malformedPackets == 0)
    }

    @Test func `a thousand silent connections do not keep out others for ever`() async throws {
        try await #require(processExitsWith: .success) {
            try limitDescriptors(to: 4_096)
            var limits = MessagePort.Options()
            limits.greetingTimeout = .seconds(1)
            limits.connectionLimit = 400
            limits.connectionLimitPerProcess = 400
            let stage = try HostileStage(limits)
            let silent = try (0..<1_000).map { _ in try stage.connect() }
            stage.seeThatHonestGoesOn()
            // The client is behind all others, waits for its turn, and gets it.
            let late = try stage.server.connect()
            let reply = try await late.request(bytes("late"), before: .hang)
            #expect(text(reply) == "late")
            late.invalidate()
            #expect(stage.statistics.silentPeers >= 601)
            waitUntil("all were closed") { stage.statistics.silentPeers == 1_000 }
            for peer in silent { #expect(try peer.ending() == .tooSlow) }
            // There are never more connections than the limit, and no more descriptors.
            waitUntil("the honest one is left") { stage.statistics.connections == 1 }
            try stage.end()
        }
    }

    @Test func `a process of another user is refused for both kinds of names`() async throws {
        // Only the administrator can start a process of another user.
        if !Child.canChangeUser { return }
        let name = try PortName("@hostile-user-\(getpid())")
        let refused = Shared()
        let port = try MessagePort(named: name, admitting: { $0.isOfThisUser })
        let thread = try RunLoopThread(name: "server")
        defer { thread.stop() }
        try await thread.runLoop.performAndWait {
            try RunLoop.current.add(port, forMode: .common) { _ in refused.increment() }
        }
        try await #require(processExitsWith: .success) {
            try #require(setuid(65_534) == 0)
            let name = try PortName("@hostile-user-\(getppid())")
            #expect(throws: MessagePortError(.notAdmitted)) { _ = try RemotePort(named: name, before: .hang) }
        }
        #expect(port.statistics.refusedPeers == 1 && port.statistics.admittedPeers == 0 && refused.count == 0)
        port.invalidate()
    }
}

extension HostilePeer {
    /// Sends a message with the number 0.
    func sendBody(_ body: ArraySlice<UInt8>, _ descriptors: [CInt] = []) -> PacketSocket.Sent {
        let bytes = Array(body)
        // Safe: bytes have no padding.
        return socket.send(Frame(kind: .message), body: unsafe bytes.span.bytes, descriptors: descriptors)
    }
}

/// Sends a packet of any bytes, or an empty one.
private func sendRaw(_ peer: HostilePeer, _ packet: [UInt8]) -> Bool {
    // Safe: the kernel reads an array of the caller.
    unsafe send(peer.socket.descriptor, packet, packet.count, CInt(MSG_NOSIGNAL)) == packet.count
}
