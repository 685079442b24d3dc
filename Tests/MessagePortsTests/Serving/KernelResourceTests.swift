import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// If the kernel is out of memory, or too many descriptors are in flight, a send is tried again.
@Suite struct KernelResourceTests {
    private static let codes = [ENOBUFS, ENOMEM, ETOOMANYREFS]

    @Test(arguments: codes)
    func `a message for which the kernel is out of resources is sent when it has them`(code: CInt)
        throws
    {
        let log = Log<UInt32>()
        let server = try PortServer { log.add($0.id) }
        let remote = try server.connect()
        Faults.refuseSends(code, times: 5)
        try remote.send(id: 1, before: .hang)
        #expect(Faults.refusedSendsLeft == 0)
        try remote.send(id: 2)
        waitUntil("both have come") { log.entries == [1, 2] }
    }

    @Test(arguments: codes) func `a message the kernel keeps refusing times out and is not sent`(code: CInt)
        throws
    {
        let log = Log<UInt32>()
        let server = try PortServer { log.add($0.id) }
        let remote = try server.connect()
        let threads = try Threads(1) { _ in
            Faults.refuseSends(code, times: 1_000_000)
            let deadline = ContinuousClock.now + .milliseconds(20)
            let late = refusal { () throws(MessagePortError) in try remote.send(id: 1, before: deadline) }
            #expect(late == MessagePortError(.timedOut) && ContinuousClock.now >= deadline)
            // The sender pauses between its attempts, and does not spin.
            #expect(1_000_000 - Faults.refusedSendsLeft < 30)
            let past = refusal { () throws(MessagePortError) in try remote.send(id: 2, before: .distantPast) }
            #expect(past == MessagePortError(.timedOut))
            #expect(throws: MessagePortError(.timedOut)) {
                _ = try remote.request(id: 3, before: .now + .milliseconds(5))
            }
            Faults.refuseSends(0, times: 0)
            try remote.send(id: 4)
        }
        try threads.join()
        waitUntil("the last has come") { log.entries == [4] }
    }

    @Test func `a connection is made when the kernel has resources for its first packet`() throws {
        let server = try PortServer { message in
            do { try message.reply() } catch { Issue.record(error) }
        }
        Faults.refuseSends(ENOMEM, times: 3)
        let remote = try server.connect()
        _ = try remote.request(before: .hang)
        Faults.refuseSends(ENOMEM, times: 1_000_000)
        #expect(throws: MessagePortError(.timedOut)) {
            _ = try server.connect(before: .now + .milliseconds(5))
        }
        Faults.refuseSends(0, times: 0)
    }

    @Test func `a sender that waits for kernel resources fails when the port ends`() throws {
        let server = try PortServer()
        let remote = try server.connect()
        let isSending = Gate()
        let sending = try Threads(1) { _ in
            Faults.refuseSends(ETOOMANYREFS, times: .max >> 32)
            isSending.open()
            #expect(
                refusal { () throws(MessagePortError) in try remote.send(before: .hang) }
                    == MessagePortError(.ended))
        }
        #expect(isSending.wait())
        server.port.invalidate()
        try sending.join()
    }

    @Test(arguments: codes)
    func `replies for which the kernel is out of resources are kept, in order, and sent when it has them`(
        code: CInt
    ) throws {
        let server = try PortServer { message in
            let id = message.id
            if id == 1 { Faults.refuseSends(code, times: 6) }
            do { try message.reply(bytes("\(id)"), descriptors: [STDERR_FILENO]) } catch {
                Issue.record(error)
            }
        }
        let remote = try server.connect()
        let asking = try Threads(3) { index in
            let reply = try remote.request(id: UInt32(index + 1), before: .hang)
            let isItsOwn = text(reply) == "\(index + 1)" && reply.descriptors.count == 1
            #expect(isItsOwn)
        }
        try asking.join()
        // The handler has made the first attempt. The loop has slept between the others.
        waitUntil("all tries are counted") { server.port.statistics.postponedReplies >= 1 }
        #expect(server.port.statistics.postponedReplies <= 5)
        #expect(remote.isValid && server.port.statistics.unreadPeers == 0)
    }

    @Test func `a reply that the kernel refuses for a minute ends its connection, and no other`() throws {
        var queue = RetryQueue(.resending)
        // This takes a minute on a clock that the test advances.
        let start = Moment.now()
        var now = start
        let reads = try ReadQueue()
        let pair = try PacketSocket.pair()
        let set = try EpollSet()
        let near = OwnedDescriptor(dup(pair.near.descriptor))
        let credentials = try pair.near.peer
        let connection = PortConnection(
            PacketSocket(adopting: near), MessagePort.Peer(id: 7, credentials: credentials),
            MessagePort.Options(), set, PortCounters())
        try set.add(connection.socket.descriptor, .reading, token: 7)
        connection.greeted(Frame.Limits(bodyLength: 100, descriptorCount: 0))
        Faults.refuseSends(ENOBUFS, times: 1_000)
        defer { Faults.refuseSends(0, times: 0) }
        try connection.reply(to: 1, RawSpan(), id: 0, descriptors: [])
        while connection.sendBacklog(now: now) == .outOfKernelResources {
            // There is room, and the set does not report it.
            set.report(to: &reads.reports)
            #expect(reads.reports.isEmpty)
            now = queue.append(7, now: now)
            #expect(queue.takeDue(now: now.advanced(by: -1)) == [] && queue.takeDue(now: now) == [7])
        }
        let seconds = (now.nanoseconds - start.nanoseconds) / 1_000_000_000
        #expect((60...61).contains(seconds) && connection.isEnded)
        #expect(pair.far.take() == .end)
    }

    @Test func `pauses between tries grow, and are short again after a reply was sent`() {
        var queue = RetryQueue(.resending)
        let start = Moment.now()
        var pauses: [Int64] = []
        for _ in 0..<12 {
            let due = queue.append(1, now: start)
            // All connections wait for the same time.
            #expect(queue.append(2, now: start.advanced(by: 100)) == due && queue.due == due)
            pauses.append((due.nanoseconds - start.nanoseconds) / 1_000_000)
            #expect(queue.takeDue(now: due) == [1, 2] && queue.due == nil)
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_000, 1_000])
        queue.hasSucceeded()
        #expect(queue.append(1, now: start) == start.advanced(by: 1_000_000))
    }

    @Test func `a user with too many descriptors in flight waits until some have arrived`() async throws {
        // Only the administrator can become a user whose descriptors in flight the kernel limits.
        if !Child.canChangeUser { return }
        try await #require(processExitsWith: .success) {
            try limitDescriptors(to: 200)
            let ends = try PacketSocket.pair()
            let most = [CInt](repeating: STDERR_FILENO, count: 100)
            try #require(setuid(54_321) == 0)
            var sent = 0
            while ends.near.give([1], descriptors: most) == .sent, sent < 100 { sent += 1 }
            #expect(sent < 100 && ends.near.give([1], descriptors: most) == .outOfKernelResources)
            #expect(ends.near.give([1]) == .sent)
            for _ in 0..<sent { #expect(ends.far.take() == .packet([1], descriptors: 100)) }
            #expect(ends.near.give([1], descriptors: most) == .sent)
        }
    }
}
