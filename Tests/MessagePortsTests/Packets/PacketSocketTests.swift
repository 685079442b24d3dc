import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Packets arrive whole, with their descriptors, and no descriptor stays open.
@Suite struct PacketSocketTests {
    @Test func `packets arrive whole and in order, each as it was sent`() throws {
        let ends = try PacketSocket.pair()
        for number in 0..<20 {
            let head = [UInt8](repeating: UInt8(number), count: 1 + number)
            #expect(ends.near.give(head, [UInt8](repeating: 9, count: number)) == .sent)
        }
        for number in 0..<20 {
            let bytes =
                [UInt8](repeating: UInt8(number), count: 1 + number) + [UInt8](repeating: 9, count: number)
            #expect(ends.far.take() == .packet(bytes, descriptors: 0))
        }
        #expect(ends.far.take() == .wouldBlock)
    }

    @Test func `a received descriptor is a duplicate of the same file, and is not inherited`() throws {
        let wire = try Wire.sockets()
        defer { wire.close() }
        let ends = try PacketSocket.pair()
        #expect(ends.near.give([1], descriptors: [wire.near, wire.far]) == .sent)
        let arrival = ends.far.take { numbers in
            #expect(numbers.count == 2 && !numbers.contains(wire.near) && !numbers.contains(wire.far))
            #expect(numbers.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
            #expect(numbers.map(inode) == [wire.near, wire.far].map(inode))
        }
        #expect(arrival == .packet([1], descriptors: 2))
        // The sender's descriptors are still open, and the received ones are closed.
        #expect(!wire.isNearClosed())
        wire.close(wire.near)
        #expect(wire.nearCloses())
    }

    @Test func `a packet carries as many descriptors as the kernel allows, and one more is refused`() throws {
        let ends = try PacketSocket.pair()
        let most = [CInt](repeating: STDERR_FILENO, count: PacketSocket.mostDescriptors)
        #expect(ends.near.give([1], descriptors: most) == .sent)
        #expect(ends.far.take() == .packet([1], descriptors: 253))
        let failure = PacketSocket.Sent.failed(SystemError(call: "sendmsg", code: EINVAL))
        #expect(ends.near.give([1], descriptors: most + [STDERR_FILENO]) == failure)
        #expect(ends.far.take() == .wouldBlock)
    }

    @Test
    func `a packet longer than the buffer is discarded with its length reported and its descriptors closed`()
        throws
    {
        let wire = try Wire.sockets()
        defer { wire.close() }
        let ends = try PacketSocket.pair()
        #expect(ends.near.give([UInt8](repeating: 1, count: 100), descriptors: [wire.near]) == .sent)
        wire.close(wire.near)
        #expect(!wire.isNearClosed())
        #expect(ends.near.give([2]) == .sent)
        #expect(ends.far.take(capacity: 99) == .tooLong(100))
        #expect(wire.nearCloses())
        #expect(ends.far.take(capacity: 99) == .packet([2], descriptors: 0))
    }

    @Test func `descriptors that are sent and never received are closed with the connection`() throws {
        let wire = try Wire.sockets()
        defer { wire.close() }
        do {
            let ends = try PacketSocket.pair()
            #expect(ends.near.give([1], descriptors: [wire.near]) == .sent)
            wire.close(wire.near)
            #expect(!wire.isNearClosed())
        }
        #expect(wire.nearCloses())
    }

    @Test func `a sender that finds no room has sent nothing, and can send again once there is room`() throws
    {
        let ends = try PacketSocket.pair()
        var sent = 0
        let packet = [UInt8](repeating: 7, count: 10_000)
        while ends.near.give(packet) == .sent { sent += 1 }
        #expect(sent > 0 && ends.near.give(packet) == .wouldBlock)
        #expect(try !ends.near.wait(for: .write, before: .now))
        for _ in 0..<sent { #expect(ends.far.take() == .packet(packet, descriptors: 0)) }
        #expect(ends.far.take() == .wouldBlock)
        #expect(try ends.near.wait(for: .write, before: .hang))
        #expect(ends.near.give(packet) == .sent)
    }

    @Test func `a packet may be as large as the socket says, and no larger`() throws {
        let ends = try PacketSocket.pair()
        let most = try ends.near.mostBytes
        #expect(ends.near.give([UInt8](repeating: 1, count: most + 1)) == .tooLarge(limit: most))
        #expect(ends.near.give([UInt8](repeating: 1, count: most)) == .sent)
        #expect(ends.far.take(capacity: most) == .packet([UInt8](repeating: 1, count: most), descriptors: 0))
        try ends.near.makeRoom(forPacketsOf: 2 * most)
        let more = try ends.near.mostBytes
        #expect(more > most)
        #expect(ends.near.give([UInt8](repeating: 1, count: more)) == .sent)
        #expect(ends.far.take(capacity: more) == .packet([UInt8](repeating: 1, count: more), descriptors: 0))
    }

    @Test func `the end arrives after the packets that were sent before it`() throws {
        let ends = try makeEnds()
        let far = PacketSocket(adopting: OwnedDescriptor(ends.far))
        withNear(ends.near) { near in #expect(near.give([1]) == .sent) }
        #expect(far.take() == .packet([1], descriptors: 0))
        #expect(far.takeWhatComes() == .end)
        #expect(far.give([2]) == .closed)
        #expect(far.takeWhatComes() == .end)
    }

    @Test
    func `the end arrives after the packets sent before it, even if the other end has not read all`()
        throws
    {
        let ends = try makeEnds()
        let far = PacketSocket(adopting: OwnedDescriptor(ends.far))
        withNear(ends.near) { near in
            #expect(far.give([9]) == .sent)
            #expect(near.give([1]) == .sent && near.give([2]) == .sent)
        }
        #expect(far.take() == .packet([1], descriptors: 0))
        #expect(far.take() == .packet([2], descriptors: 0))
        #expect(far.takeWhatComes() == .end)
    }

    @Test func `an empty packet counts as a packet while the other end is there`() throws {
        let ends = try makeEnds()
        let far = PacketSocket(adopting: OwnedDescriptor(ends.far))
        withNear(ends.near) { near in
            // Sends without a frame: all packets of the package have a head.
            #expect(sendNothing(near.descriptor))
            #expect(far.take() == .packet([], descriptors: 0))
            #expect(far.take() == .wouldBlock)
            #expect(sendNothing(near.descriptor))
        }
        #expect(Wire.otherEndCloses(of: far.descriptor))
        #expect(far.take() == .end)
    }

    @Test func `a connection that is shut down is over for both ends, after the packets that were sent`()
        throws
    {
        let ends = try PacketSocket.pair()
        #expect(ends.near.give([1]) == .sent)
        ends.near.shutDown()
        ends.near.shutDown()
        #expect(ends.near.give([2]) == .closed && ends.far.give([3]) == .closed)
        #expect(ends.far.take() == .packet([1], descriptors: 0))
        #expect(ends.far.take() == .end && ends.near.take() == .end)
    }

    @Test func `a wait ends with its event, with the end of the other end, or at the deadline`() throws {
        let ends = try makeEnds()
        let far = PacketSocket(adopting: OwnedDescriptor(ends.far))
        try withNear(ends.near) { (near: borrowing PacketSocket) throws in
            let soon = ContinuousClock.now + .milliseconds(5)
            #expect(try !far.wait(for: .read, before: soon))
            #expect(ContinuousClock.now >= soon)
            #expect(try far.wait(for: .write, before: nil))
            #expect(near.give([1]) == .sent)
            #expect(try far.wait(for: .read, before: nil))
            #expect(far.take() == .packet([1], descriptors: 0))
        }
        #expect(try far.wait(for: .read, before: nil))
    }

    @Test func `the peer is the process that made the pair`() throws {
        let ends = try PacketSocket.pair()
        let own = PeerCredentials(processID: getpid(), userID: geteuid(), groupID: getegid())
        #expect(try ends.near.peer == own && ends.far.peer == own)
        #expect("\(own)" == "process \(getpid()) of user \(geteuid()), group \(getegid())")
    }

    @Test
    func `descriptors that this process has no room for are an error, and those that it opened are closed`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            let ends = try PacketSocket.pair()
            let bound = try boundOfDescriptors()
            for free in 0..<5 {
                #expect(ends.near.give([1], descriptors: [CInt](repeating: STDERR_FILENO, count: 5)) == .sent)
                let none = refusal(bound, free: free) {
                    #expect(ends.far.take() == .lacksDescriptors)
                    #expect(openDescriptors(from: bound) == 0)
                }
                #expect(none == nil)
            }
            #expect(ends.near.give([1], descriptors: [CInt](repeating: STDERR_FILENO, count: 5)) == .sent)
            _ = refusal(bound, free: 5) { #expect(ends.far.take() == .packet([1], descriptors: 5)) }
            #expect(openDescriptors(from: bound) == 0)
        }
    }

    @Test func `a pair that the kernel refuses is an error, and leaves nothing`() async throws {
        try await #require(processExitsWith: .success) {
            let bound = try boundOfDescriptors()
            for free in 0..<2 {
                #expect(refusal(bound, free: free) { _ = try PacketSocket.pair() } == EMFILE)
                #expect(openDescriptors(from: bound) == 0)
            }
            #expect(refusal(bound, free: 2) { _ = try PacketSocket.pair() } == nil)
            #expect(openDescriptors(from: bound) == 0)
        }
    }
}

/// Sends an empty packet.
private func sendNothing(_ descriptor: CInt) -> Bool {
    // Safe: the kernel reads nothing.
    unsafe send(descriptor, [UInt8](), 0, 0) == 0
}

/// Calls a closure with one end, and closes the end afterwards.
private func withNear(_ near: CInt, _ body: (borrowing PacketSocket) throws -> Void) rethrows {
    try body(PacketSocket(adopting: OwnedDescriptor(near)))
}

private func makeEnds() throws -> (near: CInt, far: CInt) {
    var ends: [CInt] = [0, 0]
    // Safe: the kernel fills an array of two elements.
    let code = unsafe socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
    try #require(code == 0)
    return (ends[0], ends[1])
}

/// The inode of a descriptor's file.
private func inode(_ descriptor: CInt) -> UInt64 {
    var status = stat()
    // Safe: the kernel fills a local variable.
    return unsafe fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : 0
}
