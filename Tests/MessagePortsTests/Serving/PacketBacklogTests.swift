import Glibc
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// The replies and messages that are kept for a peer have limits on bytes, descriptors, and messages.
@Suite struct PacketBacklogTests {
    @Test
    func `replies are kept in order up to a limit, and a large one does not keep out one that fits`()
        throws
    {
        func reply(_ id: UInt32, _ length: Int) throws -> BackloggedPacket {
            let bytes = [UInt8](repeating: 0, count: length)
            return try BackloggedPacket(Frame(kind: .reply, id: id, number: 1), bytes, [])
        }
        var kept = PacketBacklog(limits(replyBytes: 1_000))
        let first = try reply(1, 400)
        let second = try reply(2, 400)
        let third = try reply(3, 100)
        #expect(kept.isEmpty && kept.append(first))
        #expect(kept.append(second) == false)
        #expect(kept.append(third) == true)
        #expect(kept.first?.frame.id == 1)
        kept.removeFirst()
        #expect(kept.append(second) == true)
        #expect(kept.first?.frame.id == 3)
        #expect(kept.removeAll().count == 2)
        #expect(kept.isEmpty && kept.append(first))
    }

    @Test func `replies are kept up to a number of bytes, which includes the overhead of each`() throws {
        var kept = PacketBacklog(limits(replyBytes: 2 * BackloggedPacket.overhead + 10))
        let keeps = try [10, 1, 0].map { kept.append(try reply(bytes: $0)) }
        #expect(keeps == [true, false, true])
        kept.removeFirst()
        let keepsAgain = try kept.append(reply(bytes: 10))
        #expect(keepsAgain)
    }

    @Test(arguments: [-1, 1_000_000] as [CInt])
    func `a number that is no descriptor is refused by the kernel`(
        number: CInt
    ) {
        #expect(throws: SystemError(call: "fcntl", code: EBADF)) {
            _ = try BackloggedPacket(Frame(kind: .reply, number: 1), [], [STDERR_FILENO, number])
        }
    }

    @Test func `the backlog of one requester keeps as many descriptors as one packet may carry`() async {
        await #expect(processExitsWith: .success) {
            try limitDescriptors(to: 4_096)
            var kept = PacketBacklog(limits(replyBytes: 1_000_000))
            let keeps = try [200, 53, 1, 0].map { kept.append(try reply(descriptors: $0)) }
            #expect(keeps == [true, true, false, true])
            // The first reply was sent.
            kept.removeFirst()
            let keepsAgain = try [201, 200, 1].map { kept.append(try reply(descriptors: $0)) }
            #expect(keepsAgain == [false, true, false])
            let removed = kept.removeAll().count
            let keepsMost = try kept.append(reply(descriptors: 253))
            #expect(removed == 3 && keepsMost)
        }
    }

    @Test func `messages are kept up to a number and to a number of bytes, and the first one always`() throws
    {
        var kept = PacketBacklog(limits(messageCount: 3, messageBytes: 1_000))
        let sizes = [5_000, 0]
        let keepsLong = try sizes.map { kept.append(try message(bytes: $0)) }
        #expect(keepsLong == [true, false])
        kept.removeFirst()
        let keepsShort = try [0, 0, 0, 0].map { kept.append(try message(bytes: $0)) }
        #expect(keepsShort == [true, true, true, false])
        kept.removeFirst()
        let keepsMore = try [1_000 - 4 * BackloggedPacket.overhead + 129, 1].map {
            kept.append(try message(bytes: $0))
        }
        #expect(keepsMore == [false, true])
    }

    @Test func `room for descriptors is reported when half of it is free, too`() throws {
        var kept = PacketBacklog(limits(messageCount: 100))
        let keeps = try [100, 100, 53, 1].map { kept.append(try message(descriptors: $0)) }
        kept.removeFirst()
        let early = kept.takeRoomNotice()
        kept.removeFirst()
        let notices = [kept.takeRoomNotice(), kept.takeRoomNotice()]
        #expect(keeps == [true, true, true, false] && !early && notices == [true, false])
    }

    @Test func `room is reported once after a refusal, when half of it is free`() throws {
        var kept = PacketBacklog(limits(messageCount: 4))
        let keepsFour = try (0..<4).map { _ in kept.append(try message()) }
        kept.removeFirst()
        let early = kept.takeRoomNotice()
        let keeps = [kept.append(try message()), kept.append(try message())]
        #expect(keepsFour == [true, true, true, true] && !early && keeps == [true, false])
        kept.removeFirst()
        let tooEarly = kept.takeRoomNotice()
        #expect(!tooEarly)
        kept.removeFirst()
        let notices = [kept.takeRoomNotice(), kept.takeRoomNotice()]
        #expect(notices == [true, false])
    }

    @Test func `messages take no room from replies, nor replies from messages`() throws {
        var kept = PacketBacklog(limits(replyBytes: 200, messageCount: 1))
        let keeps = [
            kept.append(try message()), kept.append(try message()), kept.append(try reply()),
            kept.append(try reply()),
        ]
        #expect(keeps == [true, false, true, false])
        kept.removeFirst()
        let keepsAgain = [kept.append(try reply()), kept.append(try message())]
        #expect(keepsAgain == [false, true])
    }

    @Test func `the array of a message is kept, and not copied`() throws {
        let bytes = [UInt8](repeating: 1, count: 10_000)
        let packet = try BackloggedPacket(Frame(kind: .message), bytes, [])
        let place = unsafe bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        let kept = unsafe packet.bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        #expect(place == kept)
    }
}

private func limits(
    replyBytes: Int = 1_000_000, messageCount: Int = 1_000, messageBytes: Int = 1_000_000
) -> PacketBacklog.Limits {
    var limits = MessagePort.Options()
    limits.keptReplyByteLimit = replyBytes
    limits.keptMessageLimit = messageCount
    limits.keptMessageByteLimit = messageBytes
    return PacketBacklog.Limits(limits)
}

private func message(bytes count: Int = 0, descriptors: Int = 0) throws -> BackloggedPacket {
    try packet(Frame(kind: .message), count, descriptors)
}

private func reply(bytes count: Int = 0, descriptors: Int = 0) throws -> BackloggedPacket {
    try packet(Frame(kind: .reply, number: 1), count, descriptors)
}

private func packet(_ frame: Frame, _ count: Int, _ descriptors: Int) throws -> BackloggedPacket {
    try BackloggedPacket(
        frame, [UInt8](repeating: 1, count: count), [CInt](repeating: STDERR_FILENO, count: descriptors))
}
