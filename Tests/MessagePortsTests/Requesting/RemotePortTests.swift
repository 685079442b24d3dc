import Synchronization
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Requests of threads and tasks, and the replies.
@Suite struct RemotePortTests {
    /// A server that keeps rights to reply until the test uses them.
    private final class Keeper: Sendable {
        let rights = Guarded<[UInt32: Kept]>([:])

        final class Kept: Sendable {
            private let right: Mutex<MessagePort.ReplyRight?>
            init(_ right: consuming MessagePort.ReplyRight?) { self.right = Mutex(right) }
            func take() -> MessagePort.ReplyRight? { right.withLock { $0.take() } }
        }

        func keep(_ message: consuming MessagePort.Message) {
            var message = message
            let id = message.id
            let kept = Kept(message.takeReplyRight())
            rights.withLock { $0[id] = kept }
        }

        func reply(to id: UInt32, _ text: String) throws {
            guard let right = rights.withLock({ $0.removeValue(forKey: id) })?.take() else {
                throw Unexpected()
            }
            try right.reply(bytes(text))
        }

        var count: Int { rights.withLock { $0.count } }
    }

    @Test
    func `requests of many threads on one connection are answered in any order, each with its own reply`()
        throws
    {
        let keeper = Keeper()
        let server = try PortServer { keeper.keep($0) }
        let remote = try server.connect()
        let threads = try Threads(8) { index in
            for round in 0..<20 {
                let id = UInt32(round * 8 + index)
                // Threads without a deadline wait in the call that reads, the others in a call before it.
                let reply = try remote.request(id: id, before: index < 4 ? .hang : nil)
                let isItsOwn = text(reply) == "to \(id)"
                #expect(isItsOwn)
            }
        }
        for round in 0..<20 {
            waitUntil("all have asked") { keeper.count == 8 }
            for index in (0..<8).reversed() {
                let id = UInt32(round * 8 + index)
                try keeper.reply(to: id, "to \(id)")
            }
        }
        try threads.join()
        #expect(remote.lateReplyCount == 0)
    }

    @Test func `requests of threads and tasks on one connection are answered, each with its own reply`()
        async throws
    {
        let server = try PortServer { message in
            let answer = message.bytes
            do { try message.reply(answer) } catch { Issue.record(error) }
        }
        let remote = try server.connect()
        let threads = try Threads(4) { index in
            for round in 0..<200 {
                let asked = [UInt8(index), UInt8(round)]
                let reply = try remote.request(asked, before: index < 2 ? .hang : nil)
                let isItsOwn = reply.bytes == asked
                #expect(isItsOwn)
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 10..<14 {
                group.addTask {
                    for round in 0..<200 {
                        let asked = [UInt8(task), UInt8(round)]
                        let reply = try await remote.request(asked, before: .hang)
                        let isItsOwn = reply.bytes == asked
                        #expect(isItsOwn)
                    }
                }
            }
            try await group.waitForAll()
        }
        try threads.join()
        #expect(server.port.statistics.messages == 1_600)
    }

    @Test func `a request whose message is destroyed fails at once with noReply`() async throws {
        let server = try PortServer()
        let remote = try server.connect()
        #expect(throws: MessagePortError(.noReply)) { _ = try remote.request(before: .hang) }
        await #expect(throws: MessagePortError(.noReply)) { _ = try await remote.request(before: .hang) }
        #expect(remote.isValid)
    }

    // Guarantees: A reply that arrives after that is discarded and counted.
    @Test func `a reply after the deadline is discarded and counted, and the next one arrives`() throws {
        let keeper = Keeper()
        let server = try PortServer { keeper.keep($0) }
        let remote = try server.connect()
        let start = ContinuousClock.now
        #expect(throws: MessagePortError(.timedOut)) {
            _ = try remote.request(id: 1, before: start + .milliseconds(30))
        }
        #expect(ContinuousClock.now - start >= .milliseconds(30))
        waitUntil("it was asked") { keeper.count == 1 }
        try keeper.reply(to: 1, "late")
        let second = try Threads(1) { _ in
            let reply = try remote.request(id: 2, before: .hang)
            let isItsOwn = text(reply) == "in time"
            #expect(isItsOwn)
        }
        waitUntil("it was asked again") { keeper.count == 1 }
        try keeper.reply(to: 2, "in time")
        try second.join()
        #expect(remote.lateReplyCount == 1)
    }

    @Test func `a task that is cancelled, or whose deadline passes, stops waiting`() async throws {
        let keeper = Keeper()
        let server = try PortServer { keeper.keep($0) }
        let remote = try server.connect()
        let task = Task { _ = try await remote.request(id: 1, before: .hang) }
        await yieldUntil("it was asked") { keeper.count == 1 }
        task.cancel()
        await #expect(throws: MessagePortError(.cancelled)) { try await task.value }
        await #expect(throws: MessagePortError(.timedOut)) {
            _ = try await remote.request(id: 2, before: .now + .milliseconds(20))
        }
        await yieldUntil("both were asked") { keeper.count == 2 }
        try keeper.reply(to: 1, "late")
        try keeper.reply(to: 2, "late too")
        let last = Task {
            let reply = try await remote.request(id: 3, before: .hang)
            return text(reply)
        }
        await yieldUntil("it was asked again") { keeper.count == 1 }
        try keeper.reply(to: 3, "in time")
        #expect(try await last.value == "in time")
        #expect(remote.lateReplyCount == 2)
    }

    @Test
    func `a right to reply is used from any thread, once, and if it is destroyed unused the request fails`()
        throws
    {
        let keeper = Keeper()
        let server = try PortServer { keeper.keep($0) }
        let remote = try server.connect()
        let asking = try Threads(2) { index in
            if index == 0 {
                let reply = try remote.request(id: 0, before: .hang)
                let isItsOwn = text(reply) == "from elsewhere"
                #expect(isItsOwn)
            } else {
                #expect(throws: MessagePortError(.noReply)) { _ = try remote.request(id: 1, before: .hang) }
            }
        }
        waitUntil("both have asked") { keeper.count == 2 }
        try Threads(1) { _ in try keeper.reply(to: 0, "from elsewhere") }.join()
        keeper.rights.withLock { $0 = [:] }
        try asking.join()
    }

    @Test func `an unknown name fails at once`() throws {
        let names = try OwnNames()
        let name = try PortName("unknown")
        #expect(throws: MessagePortError.name(.unknown(name))) {
            _ = try RemotePort(named: name, in: names.names, before: .hang)
        }
    }

    @Test func `connecting to a port that is not served times out`() throws {
        let server = try PortServer(nil, nil)
        #expect(throws: MessagePortError(.timedOut)) {
            _ = try server.connect(before: .now + .milliseconds(20))
        }
        try server.serve { _ = $0.id }
        _ = try server.connect()
    }

    @Test func `a taken name is refused, and is free again when its port has ended`() throws {
        let server = try PortServer()
        let (name, names) = (server.name, server.names.names)
        #expect(throws: MessagePortError.name(.taken(name))) { _ = try MessagePort(named: name, in: names) }
        server.port.invalidate()
        _ = try MessagePort(named: name, in: names)
    }
}
