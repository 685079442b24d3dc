import Glibc
import Synchronization
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Messages that a port sends to the peers that have sent to it.
@Suite struct PushTests {
    @Test func `messages to a peer arrive on its loop, in order, with their bytes and descriptors`() throws {
        let stage = try PushStage()
        let client = try stage.silentClient()
        let contents = Log<String>()
        try client.read { message in
            contents.add("\(text(message)) \(message.descriptors.count) \(message.isRequest)")
        }
        let peer = try stage.peer()
        #expect(try stage.port.trySend(bytes("hello"), id: 1, descriptors: [0, 1], to: peer))
        for number in 2...200 { #expect(try stage.port.trySend(id: UInt32(number), to: peer)) }
        waitUntil("all have come") { client.log.entries.count == 200 }
        #expect(client.log.entries == Array(1...200))
        #expect(contents.entries.first == "hello 2 false")
    }

    // Guarantees: A message is refused only if its send returns false or throws.
    // Guarantees: After a send has returned false, room is reported once, unless the peer ends first.
    @Test func `a peer that does not read gets as many as may be kept, and all of them when it reads`() throws
    {
        var limits = MessagePort.Options()
        limits.keptMessageLimit = 100
        let stage = try PushStage(limits)
        let client = try stage.silentClient()
        let peer = try stage.peer()
        let count = try stage.fill(peer)
        #expect(count >= 100)
        #expect(stage.room.entries.isEmpty)
        try client.read()
        waitUntil("the peer has room") { !stage.room.entries.isEmpty }
        #expect(try stage.port.trySend(id: count, to: peer))
        waitUntil("all have come") { client.log.entries.count == count + 1 }
        #expect(client.log.entries == Array(0...count))
        #expect(stage.room.entries == [peer.id])
        #expect(stage.port.statistics.unreadPeers == 0)
    }

    // Guarantees: The port keeps no more for a peer than its limits say.
    @Test func `a peer that does not read gets no more bytes than may be kept`() throws {
        var limits = MessagePort.Options()
        limits.keptMessageByteLimit = 100_000
        let stage = try PushStage(limits)
        let client = try stage.silentClient()
        let peer = try stage.peer()
        let count = try stage.fill(peer, bytes: [UInt8](repeating: 7, count: 10_000))
        // The kernel has room for some 200,000 bytes by default, including an overhead for each packet.
        #expect((9...30).contains(count))
        try client.read { message in
            let isWhole = message.byteCount == 10_000
            #expect(isWhole)
        }
        waitUntil("all have come") { client.log.entries.count == count }
        #expect(client.log.entries == Array(0..<count))
    }

    // Guarantees: Sending to a peer never blocks, and a peer that does not read delays no other.
    @Test func `a peer that does not read delays neither the port nor another peer`() throws {
        let stage = try PushStage()
        let silent = try stage.silentClient()
        let other = try stage.silentClient()
        try other.read()
        let (first, second) = (try stage.peer(0), try stage.peer(1))
        let kept = try stage.fill(first)
        for number in 0..<UInt32(5_000) {
            while try !stage.port.trySend(id: number, to: second) { sched_yield() }
            let isSent = try stage.port.trySend(to: first)
            #expect(!isSent)
        }
        waitUntil("all have come") { other.log.entries.count == 5_000 }
        #expect(other.log.entries == Array(0..<5_000))
        #expect(silent.log.entries.isEmpty && kept >= 1_024)
    }

    // Guarantees: Messages to one peer arrive in the order in which one thread sends them, behind the replies that were given
    // before.
    @Test func `replies and messages arrive in the order in which they were given`() throws {
        let stage = try PushStage()
        let client = try stage.silentClient()
        let peer = try stage.peer()
        let count = try stage.fill(peer)
        let answered = Shared(-1)
        let requests = try Threads(1) { _ in
            _ = try client.remote.request(id: 1, before: .hang)
            answered.value.store(client.log.entries.count, ordering: .releasing)
        }
        waitUntil("the request has come") { stage.received.entries.count == 2 }
        try client.read()
        try requests.join()
        // The reply followed all of the messages.
        #expect(answered.count >= count)
    }

    @Test func `a message that cannot be sent throws, and is not kept`() throws {
        let stage = try PushStage()
        let client = try stage.silentClient()
        let peer = try stage.peer()
        let large = refusal { () throws(MessagePortError) in
            _ = try stage.port.trySend([UInt8](repeating: 0, count: 65_537), to: peer)
        }
        #expect(large == .tooLarge(limit: 65_536))
        let many = refusal { () throws(MessagePortError) in
            _ = try stage.port.trySend(descriptors: [CInt](repeating: 0, count: 33), to: peer)
        }
        #expect(many == .tooManyDescriptors(limit: 32))
        let other = try PushStage()
        let stranger = refusal { () throws(MessagePortError) in _ = try other.port.trySend(to: peer) }
        #expect(stranger == MessagePortError(.ended))
        client.remote.invalidate()
        waitUntil("the peer has ended") { stage.ended.entries == [peer.id] }
        let late = refusal { () throws(MessagePortError) in _ = try stage.port.trySend(to: peer) }
        #expect(late == MessagePortError(.ended))
        #expect(late.map { "\($0)".hasPrefix("message to process") } == true)
    }

    // Guarantees: Messages to one peer arrive in the order in which one thread sends them, behind the replies that were given
    // before.
    @Test func `any number of threads send to one peer, each in its order`() throws {
        let stage = try PushStage()
        let client = try stage.silentClient()
        try client.read()
        let peer = try stage.peer()
        let senders = try Threads(4) { index in
            for number in 0..<UInt32(1_000) {
                while try !stage.port.trySend(id: UInt32(index) << 16 | number, to: peer) { sched_yield() }
            }
        }
        try senders.join()
        waitUntil("all have come") { client.log.entries.count == 4_000 }
        for index in 0..<UInt32(4) {
            #expect(client.log.entries.filter { $0 >> 16 == index }.map { $0 & 0xFFFF } == Array(0..<1_000))
        }
    }

    @Test func `messages for which the kernel is out of resources are kept, and sent when it has them`()
        throws
    {
        let stage = try PushStage()
        let client = try stage.silentClient()
        try client.read()
        let peer = try stage.peer()
        let port = stage.port
        try stage.server.onThread { _ in
            Faults.refuseSends(ENOBUFS, times: 3)
            for number in 0..<UInt32(10) where try !port.trySend(id: number, to: peer) { throw Unexpected() }
        }
        waitUntil("all have come") { client.log.entries.count == 10 }
        #expect(client.log.entries == Array(0..<10))
    }

    @Test func `a port that threads read discards messages and counts them`() throws {
        let stage = try PushStage()
        let remote = try stage.server.connect()
        try remote.send()
        let peer = try stage.peer()
        for number in 0..<UInt32(3) { #expect(try stage.port.trySend(id: number, to: peer)) }
        let answer = try remote.request(id: 9, before: .hang)
        let id = answer.id
        #expect(id == 9 && remote.discardedMessageCount == 3)
    }

    // MARK: - Closing

    // Guarantees: After a port has disconnected a peer on its loop's thread, no message of that peer is delivered.
    @Test func `a peer that is disconnected ends, and nothing more of it is served`() throws {
        let stage = try PushStage()
        let client = try stage.silentClient()
        try client.read()
        let other = try stage.silentClient()
        let peer = try stage.peer()
        let port = stage.port
        let served = try stage.server.onThread { [received = stage.received] _ in
            // The loop is busy here, so these messages wait to be read.
            for number in 1...20 { try client.remote.send(id: UInt32(number), before: .hang) }
            port.disconnect(peer)
            port.disconnect(peer)
            return received.entries.count
        }
        #expect(client.hasEnded.wait())
        #expect(client.ended.entries == [MessagePortError(.ended)])
        waitUntil("the end is told") { stage.ended.entries == [peer.id] }
        try other.send(id: 100)
        waitUntil("the other is served") { stage.received.entries.last == 100 }
        #expect(stage.received.entries.count == served + 1)
        let again = try stage.silentClient()
        try again.send(id: 200)
        waitUntil("a new connection is served") { stage.received.entries.last == 200 }
    }

    // Guarantees: After a send has returned false, room is reported once, unless the peer ends first.
    @Test func `a peer with a full backlog is disconnected, and what was kept for it is released`() throws {
        let stage = try PushStage()
        let client = try stage.silentClient()
        let peer = try stage.peer()
        _ = try stage.fill(peer)
        stage.port.disconnect(peer)
        waitUntil("the end is told") { stage.ended.entries == [peer.id] }
        #expect(
            refusal { () throws(MessagePortError) in _ = try stage.port.trySend(to: peer) }
                == MessagePortError(.ended))
        try client.read()
        #expect(client.hasEnded.wait())
        #expect(stage.room.entries.isEmpty && stage.port.statistics.connections == 0)
    }
}
