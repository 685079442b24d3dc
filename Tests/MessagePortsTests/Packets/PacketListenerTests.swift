import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Clients connect to a listener.
///
/// If the listener cannot accept a connection, the connection waits, and the listener does not spin.
@Suite struct PacketListenerTests {
    @Test
    func `clients are accepted in order, with the packets that they sent before, and with their credentials`()
        throws
    {
        let name = try uniqueName(true)
        let registration = try PortNames.user.register(name)
        let first = try PortNames.user.connect(to: name, before: nil)
        let second = try PortNames.user.connect(to: name, before: .hang)
        #expect(second.give([2]) == .sent && first.give([1]) == .sent)
        for number: UInt8 in [1, 2] {
            expectClient(registration.listener) { client in
                #expect(client.take() == .packet([number], descriptors: 0))
                let peer = try client.peer
                #expect(peer.processID == getpid())
                let flags = fcntl(client.descriptor, F_GETFL)
                #expect(flags & O_NONBLOCK != 0 && fcntl(client.descriptor, F_GETFD) & FD_CLOEXEC != 0)
            }
        }
        expectNobody(registration.listener)
        // The descriptor is blocking, because a client can wait in the call that reads.
        #expect(fcntl(first.descriptor, F_GETFL) & O_NONBLOCK == 0)
        let third = try PortNames.user.connect(to: name, before: .now)
        #expect(fcntl(third.descriptor, F_GETFL) & O_NONBLOCK == 0)
        #expect(fcntl(registration.listener.descriptor, F_GETFL) & O_NONBLOCK != 0)
    }

    @Test func `connecting to a full listener fails at the deadline`() throws {
        let name = try uniqueName(true)
        let listener = try PacketListener(
            PacketListener.Address(bytes: name.bytes, isAbstract: true), waiting: 0)
        let first = try PortNames.user.connect(to: name, before: .now)
        #expect(throws: PortNameError.timedOut(name)) {
            _ = try PortNames.user.connect(to: name, before: .now)
        }
        let soon = ContinuousClock.now + .milliseconds(5)
        #expect(throws: PortNameError.timedOut(name)) {
            _ = try PortNames.user.connect(to: name, before: soon)
        }
        #expect(ContinuousClock.now >= soon)
        #expect(first.give([1]) == .sent)
        expectClient(listener) { #expect($0.take() == .packet([1], descriptors: 0)) }
        _ = try PortNames.user.connect(to: name, before: .now)
    }

    @Test func `a connection for which there is no descriptor waits, and loses no packet`() async throws {
        try await #require(processExitsWith: .success) {
            let name = try uniqueName(true)
            let registration = try PortNames.user.register(name)
            let client = try PortNames.user.connect(to: name, before: .now)
            #expect(client.give([1]) == .sent)
            let bound = try boundOfDescriptors()
            _ = refusal(bound, free: 0) {
                for _ in 0..<3 {
                    switch registration.listener.accept() {
                    case .outOfResources(let error): #expect(error.code == EMFILE)
                    default: Issue.record("there is a client, and no descriptor")
                    }
                }
            }
            #expect(client.give([2]) == .sent)
            expectClient(registration.listener) { server in
                #expect(server.take() == .packet([1], descriptors: 0))
                #expect(server.take() == .packet([2], descriptors: 0))
            }
        }
    }

    @Test func `a pause becomes longer each time, up to a second, and short again after a connection`() {
        var pause = ExponentialBackoff.accepting
        let pauses = (0..<9).map { _ in pause.begin() }
        #expect(pauses == [10, 20, 40, 80, 160, 320, 640, 1_000, 1_000].map { .milliseconds($0) })
        pause.reset()
        #expect(pause.begin() == .milliseconds(10))
    }

    @Test func `an address that is too long is refused`() {
        let bytes = [UInt8](repeating: 120, count: 108)
        #expect(throws: SystemError(call: "bind", code: ENAMETOOLONG)) {
            _ = try PacketListener(PacketListener.Address(bytes: bytes, isAbstract: true))
        }
    }
}
