import Glibc
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// A deadline is allowed to be as late as an instant can be.
@Suite struct PortDeadlineTests {
    /// One too long for 64 bits in seconds, one too long for 64 bits in nanoseconds, and one within both.
    private static let lengths: [Duration] = [.seconds(1e19), .seconds(1e11), .seconds(9e9)]

    // Guarantees: A deadline may be as far away as an instant can be.
    @Test(arguments: lengths) func `a deadline that is far away is waited for without an overflow`(
        length: Duration
    ) async throws {
        let server = try PortServer { message in
            guard message.isRequest else { return }
            do { try message.reply() } catch { Issue.record(error) }
        }
        let late = ContinuousClock.now + length
        let remote = try server.connect(before: late)
        try remote.send(before: late)
        for _ in 0..<3 { try blockingRequest(remote, late) }
        _ = try await remote.request(before: late)
        // The same for a send without room.
        let ends = try PacketSocket.pair()
        while ends.near.give([1]) == .sent {}
        let far = dup(ends.far.descriptor)
        let reading = try Threads(1) { _ in
            let socket = PacketSocket(adopting: OwnedDescriptor(far))
            while socket.take() != .wouldBlock {}
        }
        #expect(try ends.near.wait(for: .write, before: late))
        try reading.join()
        #expect(try !ends.near.wait(for: .read, before: ContinuousClock.now - length))
    }

    @Test(arguments: lengths) func `a deadline in the distant past has passed`(length: Duration) async throws
    {
        let server = try PortServer()
        let early = ContinuousClock.now - length
        let remote = try server.connect()
        try server.pause()
        #expect(throws: MessagePortError(.timedOut)) { try blockingRequest(remote, early) }
        await #expect(throws: MessagePortError(.timedOut)) { _ = try await remote.request(before: early) }
    }

    private func blockingRequest(_ remote: RemotePort, _ deadline: ContinuousClock.Instant) throws {
        _ = try remote.request(before: deadline)
    }
}
