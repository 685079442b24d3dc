import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// The frames that are allowed in each state of a connection, for each of its two ends.
@Suite struct ConnectionStateTests {
    private static let limits = Frame.Limits(bodyLength: 100, descriptorCount: 2)

    /// The action for each kind of frame: first at an end that has not been greeted, then at one that has.
    private static let whileConnecting: [Frame.Kind: [ConnectionState.Role: ConnectionState.Action]] = [
        .hello: [.server: .greet, .client: .refuse(.malformed)],
        .welcome: [.server: .refuse(.malformed), .client: .greet],
        .refusal: [.server: .close(.tooSlow), .client: .close(.tooSlow)],
        .message: [.server: .refuse(.malformed), .client: .refuse(.malformed)],
        .request: [.server: .refuse(.malformed), .client: .refuse(.malformed)],
        .reply: [.server: .refuse(.malformed), .client: .refuse(.malformed)],
        .noReply: [.server: .refuse(.malformed), .client: .refuse(.malformed)],
    ]
    private static let whileAdmitted: [Frame.Kind: [ConnectionState.Role: ConnectionState.Action]] = [
        .hello: [.server: .refuse(.malformed), .client: .refuse(.malformed)],
        .welcome: [.server: .refuse(.malformed), .client: .refuse(.malformed)],
        .refusal: [.server: .close(.tooSlow), .client: .close(.tooSlow)],
        .message: [.server: .deliver, .client: .deliver],
        .request: [.server: .deliver, .client: .refuse(.malformed)],
        .reply: [.server: .refuse(.malformed), .client: .answer],
        .noReply: [.server: .refuse(.malformed), .client: .answer],
    ]

    @Test(arguments: Frame.Kind.allCases, [ConnectionState.Role.server, .client])
    func `every kind of frame has its action in every state`(kind: Frame.Kind, role: ConnectionState.Role)
        throws
    {
        let frame = Frame(kind: kind, id: Frame.Refusal.tooSlow.rawValue, number: 1)

        var connecting = ConnectionState(role, limits: Self.limits)
        #expect(connecting.isOpen && connecting.isConnecting && connecting.refusal == nil)
        let first = try #require(Self.whileConnecting[kind]?[role])
        #expect(connecting.receive(frame) == first)
        expectState(of: connecting, after: first)

        var admitted = ConnectionState(role, limits: Self.limits)
        #expect(admitted.receive(greeting(for: role)) == .greet)
        let second = try #require(Self.whileAdmitted[kind]?[role])
        #expect(admitted.receive(frame) == second)
        expectState(of: admitted, after: second)

        var refused = ConnectionState(role, limits: Self.limits)
        #expect(refused.refuse(.notAdmitted) == .refuse(.notAdmitted))
        #expect(refused.receive(frame) == .drop && refused.refusal == .notAdmitted)

        var ended = ConnectionState(role, limits: Self.limits)
        let wasOpen = ended.end()
        #expect(wasOpen && ended.receive(frame) == .drop && ended.refusal == nil && !ended.isOpen)
    }

    @Test func `a frame just beyond the limits ends the connection`() {
        for (kind, role) in [
            (Frame.Kind.message, ConnectionState.Role.server), (.request, .server), (.reply, .client),
            (.message, .client),
        ] {
            var state = ConnectionState(role, limits: Self.limits)
            _ = state.receive(greeting(for: role))
            let edge = Frame(kind: kind, number: 1, bodyLength: 100, descriptorCount: 2)
            #expect(state.receive(edge) == (kind == .reply ? .answer : .deliver))
            var long = state
            #expect(
                long.receive(Frame(kind: kind, number: 1, bodyLength: 101)) == .refuse(.tooLarge))
            #expect(!long.isOpen && long.refusal == .tooLarge)
            #expect(
                state.receive(Frame(kind: kind, number: 1, descriptorCount: 3)) == .refuse(.tooLarge))
        }
    }

    @Test func `an end is reported once, and not after a refusal`() {
        var state = ConnectionState(.server, limits: Self.limits)
        #expect(state.refuse(.tooSlow) == .refuse(.tooSlow))
        #expect(state.refuse(.malformed) == .drop)
        #expect(!state.end() && state.refusal == .tooSlow)
        var other = ConnectionState(.client, limits: Self.limits)
        let endings = [other.end(), other.end()]
        #expect(endings == [true, false])
        #expect(other.refuse(.malformed) == .drop && other.refusal == nil)
    }

    private func greeting(for role: ConnectionState.Role) -> Frame {
        switch role {
        case .server: Frame(.hello, limits: Self.limits)
        case .client: Frame(.welcome, limits: Self.limits)
        }
    }

    private func expectState(of state: ConnectionState, after action: ConnectionState.Action) {
        switch action {
        case .greet, .deliver, .answer: #expect(state.isOpen && !state.isConnecting && state.refusal == nil)
        case .close(let refusal), .refuse(let refusal):
            #expect(!state.isOpen && !state.isConnecting && state.refusal == refusal)
        case .drop: Issue.record("the connection was open")
        }
    }
}
