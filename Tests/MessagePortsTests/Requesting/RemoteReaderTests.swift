import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// The reader of a connection reads for all requests on the connection.
///
/// The test acts as the port, packet by packet.
@Suite struct RemoteReaderTests {
    @Test func `a thread that times out after it was chosen to read leaves the reading to the next waiter`()
        throws
    {
        let played = try PlayedPort()
        let connection = played.remote.connection
        // This thread reads, so no other thread can.
        #expect(connection.state.withLock { $0.role.acquireForThread() })
        let early = PendingRequest(isTask: false)
        try connection.begin(early, RawSpan(), id: 0, [], before: .hang)
        let soon = ContinuousClock.now + .milliseconds(5)
        let inTime = try connection.wait(for: early, before: soon)
        #expect(inTime == nil)
        let late = PendingRequest(isTask: false)
        try connection.begin(late, RawSpan(), id: 0, [], before: .hang)
        let waiting = try Threads(1) { _ in
            let outcome = try connection.wait(for: late, before: .hang)
            #expect(outcome != nil)
        }
        waitUntil("it waits to be told") { connection.state.withLock { _ in late.gate != nil } }
        // The reader is done, and wakes the first waiter. That waiter has timed out and is still in the table.
        connection.stopReading()
        connection.abandon(early, MessagePortError(.timedOut))
        played.send(Frame(kind: .noReply, number: late.number))
        try waiting.join()
        #expect(late.isDecided)
    }

    @Test func `a deadline ends a request even if there is always something to read`() throws {
        let played = try PlayedPort()
        let connection = played.remote.connection
        let request = PendingRequest(isTask: false)
        try connection.begin(request, RawSpan(), id: 0, [], before: .hang)
        for other in 1...100 { played.send(Frame(kind: .noReply, number: request.number + UInt64(other))) }
        let outcome = try connection.wait(for: request, before: .distantPast)
        #expect(outcome == nil && played.remote.lateReplyCount == 1)
    }

    @Test func `a request that is decided while it waits to be sent is not begun again`() throws {
        let played = try PlayedPort()
        let connection = played.remote.connection
        #expect(throws: MessagePortError(.timedOut)) {
            while true { try played.remote.send(before: .distantPast) }
        }
        let request = PendingRequest(isTask: true)
        let sending = try Threads(1) { _ in
            try connection.begin(request, RawSpan(), id: 0, [], before: .hang)
        }
        waitUntil("it is in the table") { connection.state.withLock { !$0.requests.isEmpty } }
        // As if a reader had received the port's reply that it has not got the request.
        let waiter = connection.state.withLock {
            $0.requests.take(1)?.decide(.failure(MessagePortError(.noReply)))
        }
        #expect(waiter != nil)
        // The request cannot be sent any longer, but is already decided.
        played.end()
        try sending.join()
        guard case .failure(let error) = request.outcome else { throw Unexpected() }
        #expect(error.reason == .noReply)
        #expect(connection.state.withLock { $0.requests.isEmpty && $0.requests.taskCount == 0 })
    }

    @Test
    func `a reader stops after 64 packets and leaves the rest to the next reader`()
        throws
    {
        let played = try PlayedPort()
        let connection = played.remote.connection
        for number: UInt64 in 1...100 { played.send(Frame(kind: .noReply, number: number)) }
        for count in [64, 100] {
            #expect(connection.state.withLock { $0.role.acquireForThread() })
            connection.readAll()
            #expect(played.remote.lateReplyCount == count)
        }
    }
}

/// A port that the test plays, and a sender that the port has admitted.
private final class PlayedPort {
    let remote: RemotePort
    private let socket: PacketSocket
    private let names: OwnNames

    init() throws {
        let name = try PortName("played")
        names = try OwnNames()
        let place = names.names
        let registration = try place.register(name)
        let connected = Log<RemotePort>()
        let connecting = try Threads(1) { _ in
            connected.add(try RemotePort(named: name, in: place, before: .hang))
        }
        socket = try PlayedPort.accept(registration.listener)
        #expect(socket.send(Frame(.welcome, limits: .init(bodyLength: 1_000, descriptorCount: 0))) == .sent)
        try connecting.join()
        remote = try #require(connected.entries.first)
    }

    private static func accept(_ listener: borrowing PacketListener) throws -> PacketSocket {
        let end = ContinuousClock.Instant.hang
        while ContinuousClock.now < end {
            switch listener.accept() {
            case .connection(let socket): return socket
            case .none: continue
            case .outOfResources(let error): throw error
            case .failed(let error): throw error
            }
        }
        throw Unexpected()
    }

    func send(_ frame: Frame) { #expect(socket.send(frame) == .sent) }

    func end() { socket.shutDown() }
}
