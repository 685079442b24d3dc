import Testing

@testable import MessagePorts
@testable import RunLoops

/// The limits on the number of connections of each process and of each user.
@Suite struct ConnectionQuotaTests {
    private static func limits() -> MessagePort.Options {
        var limits = MessagePort.Options()
        limits.connectionLimitPerProcess = 2
        limits.connectionLimitPerUser = 3
        return limits
    }

    private static func peer(_ process: CInt, of user: UInt32) -> PeerCredentials {
        PeerCredentials(processID: process, userID: user, groupID: 0)
    }

    @Test func `a process has its own quota, whatever the others use`() {
        var shares = ConnectionQuota(Self.limits(), ownUser: 7)
        let taken = [1, 1, 1, 2, 2, 2, 3].map { shares.take(Self.peer($0, of: 7)) }
        #expect(taken == [true, true, false, true, true, false, true])
        shares.giveBack(Self.peer(1, of: 7))
        let again = [1, 1].map { shares.take(Self.peer($0, of: 7)) }
        #expect(again == [true, false])
    }

    @Test func `another user has one quota, however many processes it has`() {
        var shares = ConnectionQuota(Self.limits(), ownUser: 7)
        let taken = [1, 2, 3, 4].map { shares.take(Self.peer($0, of: 8)) }
        #expect(taken == [true, true, true, false])
        // A refused connection does not count, and other users have quotas of their own.
        let others: [UInt32] = [9, 7]
        let takenByOthers = others.map { shares.take(Self.peer(4, of: $0)) }
        #expect(takenByOthers == [true, true])
        shares.giveBack(Self.peer(2, of: 8))
        let again = [5, 5].map { shares.take(Self.peer($0, of: 8)) }
        #expect(again == [true, false])
    }

    @Test func `the same process number of another user is another process`() {
        var shares = ConnectionQuota(Self.limits(), ownUser: 7)
        let taken = [8, 8, 8, 9, 7].map { shares.take(Self.peer(1, of: $0)) }
        #expect(taken == [true, true, false, true, true])
    }

    @Test func `a process without connections is not kept in the quota`() {
        var shares = ConnectionQuota(Self.limits(), ownUser: 7)
        let peers = [Self.peer(1, of: 7), Self.peer(1, of: 8), Self.peer(2, of: 8)]
        let taken = peers.map { shares.take($0) }
        #expect(taken == [true, true, true])
        for peer in peers {
            #expect(!shares.isEmpty)
            shares.giveBack(peer)
        }
        #expect(shares.isEmpty)
    }
}
