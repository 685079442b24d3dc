import CRunLoops
import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Descriptors of other processes that are not taken are closed, and no loop waits for a close, however long it takes.
@Suite struct MessagePortClosingTests {
    /// A port that takes no descriptor, an honest client, and a client whose descriptors take long to close.
    private struct Stage {
        let server: PortServer
        let honest: RemotePort
        let hostile: HostilePeer

        init() throws {
            server = try PortServer { message in
                if !message.isRequest { return }
                do { try message.reply() } catch { Issue.record(error) }
            }
            honest = try server.connect()
            hostile = HostilePeer(try server.names.names.connect(to: server.name, before: .hang))
            let limits = Frame.Limits(bodyLength: 100, descriptorCount: 0)
            #expect(hostile.socket.send(Frame(.hello, limits: limits)) == .sent)
            #expect(try hostile.nextFrame()?.kind == .welcome)
        }

        /// Checks that the loop continues: the honest client is answered.
        func seeThatHonestIsAnswered() throws {
            for _ in 0..<3 { _ = try honest.request(before: .now + .seconds(20)) }
        }
    }

    // Guarantees: Every descriptor that was not taken is closed, and no loop waits for that, however many descriptors there are and
    // however long it takes.
    @Test func `descriptors that are not taken are closed, and delay no loop`() throws {
        let stage = try Stage()
        // The port pauses until this process has closed its own descriptor: the last close of such a socket blocks.
        try stage.server.pause()
        let slow = try SlowToClose()
        defer { slow.end() }
        #expect(stage.hostile.sendBody([], [slow.descriptor]) == .sent)
        slow.letGo()
        try stage.server.serve { message in
            if !message.isRequest { return }
            do { try message.reply() } catch { Issue.record(error) }
        }
        try stage.seeThatHonestIsAnswered()
        #expect(stage.server.port.statistics.messages == 4)
    }

    @Test(arguments: ["malformed", "too long", "too many", "unread"])
    func `descriptors of a rejected packet delay no loop, nor do those that wait behind it`(what: String)
        throws
    {
        let stage = try Stage()
        try stage.server.pause()
        let slow = try (0..<2).map { _ in try SlowToClose() }
        defer { for one in slow { one.end() } }
        let sent: PacketSocket.Sent =
            switch what {
            case "malformed": stage.hostile.socket.give([1, 2, 3], descriptors: [slow[0].descriptor])
            case "too long":
                stage.hostile.socket.give(
                    [UInt8](repeating: 1, count: 100_000), descriptors: [slow[0].descriptor])
            case "too many":
                stage.hostile.sendBody([], [CInt](repeating: slow[0].descriptor, count: 33))
            default: stage.hostile.socket.give([1])
            }
        #expect(sent == .sent)
        let behind = slow[what == "unread" ? 0 : 1].descriptor
        #expect(stage.hostile.sendBody([], [behind, slow[1].descriptor]) == .sent)
        for one in slow { one.letGo() }
        try stage.server.serve { message in
            do { try message.reply() } catch { Issue.record(error) }
        }
        try stage.seeThatHonestIsAnswered()
        waitUntil("it is gone") { stage.server.port.statistics.connections == 1 }
        try stage.seeThatHonestIsAnswered()
        #expect(stage.server.port.statistics.malformedPackets == 1)
    }

    @Test func `a peer that is not let in cannot send descriptors if the kernel supports that`() throws {
        let name = try uniqueName(true)
        let registration = try PortNames.user.register(name)
        let client = try PortNames.user.connect(to: name, before: .now)
        let refused = PacketSocket.Sent.failed(SystemError(call: "sendmsg", code: EPERM))
        let isNew = registration.listener.blocksDescriptors
        let expected = isNew ? refused : .sent
        #expect(client.give([1], descriptors: [STDERR_FILENO]) == expected)
        expectClient(registration.listener) { server in
            #expect(client.give([2], descriptors: [STDERR_FILENO]) == expected)
            server.allowDescriptors()
            #expect(client.give([3], descriptors: [STDERR_FILENO]) == .sent)
            if !isNew { #expect(server.take() == .packet([1], descriptors: 1)) }
            if !isNew { #expect(server.take() == .packet([2], descriptors: 1)) }
            #expect(server.take() == .packet([3], descriptors: 1))
        }
    }

    @Test func `on older kernels, refusing a connection does not wait for its descriptors to close`() throws {
        let name = try uniqueName(true)
        let address = PacketListener.Address(bytes: name.bytes, isAbstract: true)
        let listener = HeldListener(try PacketListener(address, blocksDescriptors: false))
        let client = try PacketSocket(address, before: .now)
        let slow = try SlowToClose()
        defer { slow.end() }
        #expect(client.give([1], descriptors: [slow.descriptor]) == .sent)
        slow.letGo()
        let accepted = Shared()
        // On another thread, because this thread must not block.
        let refusing = try Threads(1) { _ in expectClient(listener.held) { _ in accepted.increment() } }
        try refusing.join()
        #expect(accepted.count == 1)
    }

    @Test func `a hundred descriptors are closed, and slow ones do not delay the others`() throws {
        let slow = try SlowToClose()
        defer { slow.end() }
        let wires = try (0..<100).map { _ in try Wire.sockets() }
        defer { for wire in wires { wire.close() } }
        close([slow.giveAway()])
        for wire in wires { close([wire.giveAwayNear()]) }
        waitUntil("all are closed") { wires.allSatisfy { $0.isNearClosed() } }
    }

    // Guarantees: A peer whose descriptors take long to close delays only the closing of its own descriptors, and delays no
    // messages without descriptors, of any peer.
    @Test
    func `slow descriptors of one process delay no other, and no discarding thread closes them`()
        async
    {
        await #expect(processExitsWith: .success) {
            try limitDescriptors(to: 2_000)
            let hostile = [1, 2].map { DescriptorQuota(of: peer(CInt($0))) }
            let slow = try (0..<2 * DescriptorCloser.mostThreadsOfGroup).map { _ in try SlowToClose() }
            for (index, one) in slow.enumerated() { close([one.giveAway()], for: hostile[index % 2]) }
            // All threads of the two groups are busy, and none returns.
            waitUntil("they wait") { DescriptorCloser.waitingCount == 0 }
            let behind = try (0..<100).map { _ in try Wire.sockets() }
            for wire in behind { close([wire.giveAwayNear()], for: hostile[0]) }
            #expect(DescriptorCloser.waitingCount == 100)
            let other = try Wire.sockets()
            close([other.giveAwayNear()], for: DescriptorQuota(of: peer(3)))
            waitUntil("another's is closed") { other.isNearClosed() }
            #expect(DescriptorCloser.waitingCount == 100 && hostile[0].total == 102)
            #expect(!behind.contains { $0.isNearClosed() })
            for one in slow { one.end() }
            waitUntil("all are closed") { behind.allSatisfy { $0.isNearClosed() } }
            // The threads end, and new ones start when needed.
            let next = try Wire.sockets()
            close([next.giveAwayNear()], for: hostile[1])
            waitUntil("it is closed, and no quota counts it") {
                next.isNearClosed() && DescriptorQuota.totalOfProcess == 0
            }
        }
    }

    @Test func `a process that cannot start a thread closes descriptors when it can start one again`() async {
        if !Child.canChangeUser { return }
        await #expect(processExitsWith: .success) {
            let wire = try Wire.sockets()
            var limit = rlimit()
            let resource = __rlimit_resource_t(__RLIMIT_NPROC.rawValue)
            // Safe, here and below: the kernel reads and fills a local variable. The administrator has no limit.
            unsafe getrlimit(resource, &limit)
            limit.rlim_cur = 0
            try #require(unsafe setrlimit(resource, &limit) == 0)
            try #require(setuid(54_323) == 0)
            let quota = DescriptorQuota(of: peer(1))
            close([wire.giveAwayNear()], for: quota)
            #expect(!wire.isNearClosed() && quota.total == 1)
            limit.rlim_cur = limit.rlim_max
            try #require(unsafe setrlimit(resource, &limit) == 0)
            // The next receipt tries to start a thread again.
            _ = quota.allowance(limit: 32, untaken: 64)
            waitUntil("it is closed") { wire.isNearClosed() }
        }
    }

    @Test func `a connection without unread packets is closed at once, and one with unread packets is not`()
        throws
    {
        for sent in [[], [[]], [[1]], [[], [1]]] as [[[UInt8]]] {
            let ends = try PacketSocket.pair()
            for packet in sent { #expect(ends.far.give(packet, descriptors: [STDERR_FILENO]) == .sent) }
            ends.near.shutDown()
            #expect(runloops_is_drained(ends.near.descriptor) == sent.isEmpty)
        }
        // Empty packets without descriptors count, too: other packets can follow them.
        let ends = try PacketSocket.pair()
        #expect(ends.far.give([]) == .sent && ends.far.give([1]) == .sent)
        ends.near.shutDown()
        #expect(!runloops_is_drained(ends.near.descriptor))
        #expect(ends.near.take() == .end)
        #expect(!runloops_is_drained(ends.near.descriptor))
        #expect(ends.near.take() == .packet([1], descriptors: 0))
        #expect(runloops_is_drained(ends.near.descriptor))
    }

    @Test func `a listener whose connections hold descriptors does not block the thread that ends it`() throws
    {
        let name = try uniqueName(true)
        let address = PacketListener.Address(bytes: name.bytes, isAbstract: true)
        let slow = try SlowToClose()
        defer { slow.end() }
        let ending = try Threads(1) { _ in
            let listener = try PacketListener(address, blocksDescriptors: false)
            let client = try PacketSocket(address, before: .now)
            #expect(client.give([1], descriptors: [slow.descriptor]) == .sent)
            slow.letGo()
            _ = consume listener
            // The name is free.
            _ = try PacketListener(address)
        }
        try ending.join()
    }
}

private func peer(_ process: CInt) -> PeerCredentials {
    PeerCredentials(processID: process, userID: geteuid(), groupID: getegid())
}

private final class HeldListener: Sendable {
    let held: PacketListener
    init(_ held: consuming PacketListener) { self.held = held }
}

private func close(_ numbers: [CInt], for quota: DescriptorQuota = DescriptorQuota(of: nil)) {
    DescriptorCloser.close(numbers, for: quota, wereCounted: false)
}

/// A socket whose last close blocks for an hour, because its data are not read, unless the test ends the wait.
final class SlowToClose: Sendable {
    let descriptor: CInt
    private let reader: CInt

    init() throws {
        let (listening, port) = try Loopback.listen()
        defer { Loopback.close(listening) }
        descriptor = try Loopback.connect(to: port)
        var accepted: CInt?
        waitUntil("it is connected") {
            accepted = Loopback.accept(listening)
            return accepted != nil
        }
        reader = try #require(accepted)
        // Until the other end accepts no more. The kernel at this end notices that only after some time.
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        repeat {
            while try Loopback.write([UInt8](repeating: 1, count: 65_536), to: descriptor) > 0 {}
            // Safe: the kernel fills a local variable.
        } while unsafe poll(&entry, 1, 300) == 1
        var time = linger(l_onoff: 1, l_linger: 3_600)
        // Safe: the kernel reads a local variable.
        let code = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &time, socklen_t(MemoryLayout<linger>.size))
        try #require(code == 0)
    }

    /// Closes the test's own descriptor, which is not the last one.
    func letGo() { Loopback.close(giveAway()) }

    /// Returns the descriptor, which its new owner closes.
    func giveAway() -> CInt { descriptor }

    /// Closes the reading end, and so ends the waits.
    func end() { Loopback.close(reader) }
}
