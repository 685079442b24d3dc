import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Limits on the descriptors that peers have sent and that are neither taken nor closed.
///
/// A peer that exceeds a limit does not harm other peers.
@Suite struct DescriptorBoundTests {
    @Test func `descriptors count from their receipt until they are taken or closed`() async throws {
        try await #require(processExitsWith: .success) {
            let ends = try PacketSocket.pair()
            let quota = DescriptorQuota(of: try ends.near.peer)
            var near = PacketSocket(adopting: OwnedDescriptor(dup(ends.near.descriptor)))
            near.quota = quota
            let three = [CInt](repeating: STDERR_FILENO, count: 3)
            for _ in 0..<2 { #expect(ends.far.give([1], descriptors: three) == .sent) }
            let packet = PacketPool(forBodiesOf: 10).take()
            // Safe: the packet belongs to the test.
            guard case .packet(_, var descriptors) = unsafe near.receive(into: packet.memory) else {
                throw Unexpected()
            }
            #expect(quota.total == 3 && DescriptorQuota.totalOfProcess == 3)
            do {
                let taken = descriptors.takeFirst()
                #expect(quota.total == 2)
                // A taken descriptor is closed when it is destroyed, like the others.
                _ = consume taken
            }
            _ = consume descriptors
            waitUntil("they are closed") { quota.total == 0 }
            guard case .packet(_, let others) = unsafe near.receive(into: packet.memory) else {
                throw Unexpected()
            }
            for number in others.release() { close(number) }
            #expect(quota.total == 0 && DescriptorQuota.totalOfProcess == 0)
        }
    }

    @Test func `a packet with more descriptors than allowed stays in the kernel, and none is closed`() throws
    {
        let ends = try PacketSocket.pair()
        let wire = try Wire.sockets()
        defer { wire.close() }
        #expect(ends.far.give([1], descriptors: [wire.near, wire.near]) == .sent)
        #expect(ends.far.give([2]) == .sent)
        wire.close(wire.near)
        #expect(ends.near.take(.atMost(0)) == .exceedsAllowance(opened: 0))
        #expect(ends.near.take(.atMost(1)) == .exceedsAllowance(opened: 1))
        #expect(!wire.isNearClosed())
        #expect(ends.near.take(.atMost(2)) == .packet([1], descriptors: 2))
        #expect(ends.near.take(.atMost(0)) == .packet([2], descriptors: 0))
        #expect(ends.near.take(.atMost(0)) == .wouldBlock)
        #expect(wire.nearCloses())
    }

    @Test func `no loop closes descriptors for which there is no number`() async throws {
        try await #require(processExitsWith: .success) {
            let stage = try HostileStage()
            let peer = try stage.connectAndGreet()
            try stage.server.pause()
            let slow = try SlowToClose()
            // Many precede the slow one. If another thread frees a number late, one of them gets the number, and not the slow one.
            let plain = [CInt](repeating: STDERR_FILENO, count: 16)
            #expect(peer.sendBody([], plain + [slow.descriptor]) == .sent)
            slow.letGo()
            let bound = try boundOfDescriptors()
            fillDescriptors(below: bound)
            try limitDescriptors(to: bound + 1)
            try stage.server.serve { _ = $0.id }
            // The loop continues. If it closed the descriptor, it would wait for an hour.
            #expect(try peer.ending() == .outOfResources)
            try refuseNoDescriptors(from: bound)
            slow.end()
        }
    }

    // Guarantees: A peer whose descriptors take long to close delays only the closing of its own descriptors, and delays no
    // messages without descriptors, of any peer.
    @Test
    func `a peer beyond its bound is not read while it sends descriptors, and others are`() throws {
        var limits = MessagePort.Options()
        limits.untakenDescriptorLimit = 2
        let kept = KeptMessages()
        let server = try PortServer(limits: limits) { message in
            if message.isRequest {
                do { try message.reply() } catch { Issue.record(error) }
            } else {
                kept.add(message)
            }
        }
        let sender = try server.connect()
        let honest = try server.connect()
        for id: UInt32 in 1...4 { try sender.send(id: id, descriptors: [STDERR_FILENO]) }
        waitUntil("two have come") { kept.ids == [1, 2] }
        // Packets without descriptors are read: all of other peers, and those of this peer up to its first packet with a
        // descriptor.
        _ = try honest.request(before: .hang)
        #expect(kept.ids == [1, 2])
        let passes = server.thread.runLoop.statistics.passes
        #expect(throws: MessagePortError(.timedOut)) {
            _ = try sender.request(before: .now + .milliseconds(200))
        }
        // The loop does not spin.
        #expect(server.thread.runLoop.statistics.passes - passes < 100)
        kept.takeDescriptors()
        waitUntil("the others have come") { kept.ids == [1, 2, 3, 4] }
        kept.removeAll()
        _ = try sender.request(before: .hang)
        #expect(server.port.statistics.unclosablePeers == 0 && server.port.statistics.connections == 2)
    }

    @Test(.enabled(if: Faults.bearForks))
    func `a peer whose descriptors cannot be closed in time is cut off, and its next connection is refused`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            let stage = try HostileStage()
            let child = try CutOffChild(stage)
            // The honest client is in another process: that of the test.
            stage.seeThatHonestGoesOn()
            #expect(child.ending == .exited(0))
            #expect(stage.statistics.unclosablePeers == 2)
            try stage.end()
        }
    }

    // Guarantees: Descriptors that peers have sent and that are neither taken nor closed are at most half of those that the process
    // may open.
    @Test func `descriptors of other processes are at most half of those that this one may open`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            try limitDescriptors(to: 400)
            let quotas = (1...20).map { process in
                DescriptorQuota(of: PeerCredentials(processID: process, userID: geteuid(), groupID: 0))
            }
            #expect(quotas[0].allowance(limit: 32, untaken: 64) == .atMost(32))
            // Each connection sends one message, or the number of messages that reaches the limit.
            var received = 0
            for quota in quotas {
                while case .atMost(let count) = quota.allowance(limit: 32, untaken: 64), count > 0 {
                    quota.receive(count)
                    received += count
                }
                #expect(quota.total <= 64 + 31)
            }
            #expect(received > 100 && received <= 200)
            for quota in quotas { quota.take(quota.total) }
            #expect(DescriptorQuota.totalOfProcess == 0)
        }
    }

    @Test
    func `the processes of another user are one group, and each process of this user is a group of its own`()
    {
        func group(_ process: CInt, _ user: UInt32) -> PeerGroup.Key {
            PeerGroup.Key(PeerCredentials(processID: process, userID: user, groupID: 0))
        }
        let own = geteuid()
        #expect(group(1, own) != group(2, own) && group(1, own + 1) == group(2, own + 1))
        #expect(group(1, own + 1) != group(1, own + 2))
    }
}

/// A process that sends descriptors that take too long to close, and loses its connection.
private struct CutOffChild {
    let ending: Child.Ending

    init(_ stage: HostileStage) throws {
        let slow = try SlowToClose()
        let wire = try Wire.sockets()
        for end in [wire.near, wire.far] { _ = fcntl(end, F_SETFL, 0) }
        let child = Child {
            do {
                wire.close(wire.near)
                let first = try stage.connectAndGreet()
                // The port must be the last owner of the descriptor, because only the last close is slow. So the parent closes its
                // own before it answers, and the loop is blocked until this process has closed its own, too.
                CutOffChild.tell(wire.far)
                if !CutOffChild.hears(wire.far) { return 9 }
                if first.sendBody([], [slow.descriptor]) != .sent { return 10 }
                slow.letGo()
                CutOffChild.tell(wire.far)
                // Each message is received, until a close has taken some seconds.
                while true {
                    switch first.sendBody([]) {
                    case .sent: usleep(20_000)
                    case .closed:
                        let ending = try first.ending()
                        if ending != .outOfResources { return 11 }
                        let second = try stage.connect()
                        return try second.ending() == .tooManyConnections ? 0 : 12
                    default: return 13
                    }
                }
            } catch { return 14 }
        }
        slow.letGo()
        wire.close(wire.far)
        if CutOffChild.hears(wire.near) {
            let (stands, goesOn) = (Gate(), Gate())
            stage.server.thread.runLoop.perform {
                stands.open()
                #expect(goesOn.wait())
            }
            #expect(stands.wait())
            CutOffChild.tell(wire.near)
            #expect(CutOffChild.hears(wire.near))
            goesOn.open()
        }
        ending = child.wait()
        wire.close()
        slow.end()
    }

    private static func tell(_ end: CInt) {
        var byte: UInt8 = 1
        // Safe: the kernel reads a local variable of one byte.
        _ = unsafe write(end, &byte, 1)
    }

    /// Waits for a byte, and returns false if the other process has ended.
    private static func hears(_ end: CInt) -> Bool {
        var byte: UInt8 = 0
        // Safe: the kernel writes one byte at most, to a local variable.
        return unsafe read(end, &byte, 1) == 1
    }
}

/// Messages that a test keeps.
private final class KeptMessages: Sendable {
    private let log = Log<UInt32>()
    private let held = Guarded<[Held]>([])

    private final class Held: Sendable {
        private let lock = Guarded(())
        /// `nonisolated(unsafe)`: accessed under the lock.
        nonisolated(unsafe) private var message: MessagePort.Message

        init(_ message: consuming MessagePort.Message) { unsafe self.message = message }

        func takeDescriptors() {
            lock.withLock { _ in
                while let taken = unsafe message.descriptors.takeFirst() { close(taken.release()) }
            }
        }
    }

    func add(_ message: consuming MessagePort.Message) {
        let id = message.id
        let kept = Held(message)
        held.withLock { $0.append(kept) }
        log.add(id)
    }

    var ids: [UInt32] { log.entries }

    func takeDescriptors() { for one in held.withLock({ $0 }) { one.takeDescriptors() } }

    func removeAll() {
        let forgotten = held.withLock { held in
            defer { held = [] }
            return held
        }
        withExtendedLifetime(forgotten) {}
    }
}
