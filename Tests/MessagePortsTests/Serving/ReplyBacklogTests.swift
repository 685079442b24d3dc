import Glibc
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// The replies kept for a requester have limits: of bytes, and of descriptors.
@Suite struct ReplyBacklogTests {
    @Test
    func `replies are kept in order up to a limit, and a large one does not keep out one that fits`()
        throws
    {
        func reply(_ id: UInt32, _ length: Int) throws -> BackloggedReply {
            let bytes = [UInt8](repeating: 0, count: length)
            // Safe: bytes have no padding.
            return try unsafe BackloggedReply(Frame(kind: .reply, id: id, number: 1), bytes.span.bytes, [])
        }
        var kept = ReplyBacklog(limit: 1_000)
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
        var kept = ReplyBacklog(limit: 2 * BackloggedReply.overhead + 10)
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
            // Safe: there is nothing in it.
            _ = try BackloggedReply(Frame(kind: .reply, number: 1), RawSpan(), [STDERR_FILENO, number])
        }
    }

    @Test func `the backlog of one requester keeps as many descriptors as one packet may carry`() async {
        await #expect(processExitsWith: .success) {
            try limitDescriptors(to: 4_096)
            var kept = ReplyBacklog(limit: 1_000_000)
            let keeps = try [200, 53, 1, 0].map { kept.append(try reply(descriptors: $0)) }
            #expect(keeps == [true, true, false, true])
            // The first one was sent.
            kept.removeFirst()
            let keepsAgain = try [201, 200, 1].map { kept.append(try reply(descriptors: $0)) }
            #expect(keepsAgain == [false, true, false])
            let removed = kept.removeAll().count
            let keepsMost = try kept.append(reply(descriptors: 253))
            #expect(removed == 3 && keepsMost)
        }
    }
}

private func reply(bytes count: Int = 0, descriptors: Int = 0) throws -> BackloggedReply {
    let bytes = [UInt8](repeating: 1, count: count)
    // Safe: bytes have no padding.
    return try BackloggedReply(
        Frame(kind: .reply, number: 1), unsafe bytes.span.bytes,
        [CInt](repeating: STDERR_FILENO, count: descriptors))
}
