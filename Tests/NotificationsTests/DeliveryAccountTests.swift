import RunLoops
import Testing

@testable import Notifications

/// The account of a limited observer as a value: which turn delivers what.
@Suite struct DeliveryAccountTests {
    private typealias Capacity = NotificationRedirector.Capacity

    /// What the turn with a number delivers.
    private static func deliver(
        _ turn: Int, _ account: inout DeliveryAccount, _ capacity: NotificationRedirector.Capacity
    ) -> [String] {
        var delivered: [String] = []
        while let next = account.next(of: turn, capacity) { delivered.append(next.notification.text) }
        return delivered
    }

    /// Takes a notification in, and says which turn is given for it.
    private static func offer(
        _ text: String, _ account: inout DeliveryAccount, _ capacity: NotificationRedirector.Capacity,
        _ gate: ThreadGate? = nil
    ) -> Int? {
        if case .giveTurn(let number) = account.offer(Notification(.a, text), capacity, gate) {
            return number
        }
        return nil
    }

    @Test func `a turn delivers all up to its own, and one that comes late nothing`() {
        let capacity = Capacity.bounded(3, .dropNewest)
        var account = DeliveryAccount()
        #expect(["1", "2", "3"].map { Self.offer($0, &account, capacity) } == [0, 1, 2])
        #expect(Self.offer("4", &account, capacity) == nil)
        #expect(account.next(of: 1, capacity)?.isLast == false)
        #expect(account.next(of: 1, capacity)?.isLast == true)
        #expect(Self.deliver(0, &account, capacity) == [])
        #expect(Self.offer("5", &account, capacity) == 3)
        #expect(Self.deliver(2, &account, capacity) == ["3"])
        #expect(Self.deliver(3, &account, capacity) == ["5"])
    }

    @Test func `one that takes the place of the oldest has the last turn`() {
        let capacity = Capacity.bounded(2, .dropOldest)
        var account = DeliveryAccount()
        #expect(["1", "2", "3"].map { Self.offer($0, &account, capacity) } == [0, 1, nil])
        #expect(Self.deliver(0, &account, capacity) == ["2"])
        #expect(Self.deliver(1, &account, capacity) == ["3"])
        #expect(Self.offer("4", &account, capacity) == 2)
    }

    @Test(arguments: [
        NotificationRedirector.Capacity.bounded(3, .dropNewest), .bounded(1, .dropOldest),
        .bounded(1, .block(until: .seconds(1))),
        .coalescing(.onName),
    ]) func `after the end turns find nothing, and nothing is taken in`(
        capacity: NotificationRedirector.Capacity
    ) {
        var account = DeliveryAccount()
        #expect(Self.offer("1", &account, capacity) == 0)
        #expect(account.close().notifications.map(\.text) == ["1"])
        #expect(Self.deliver(0, &account, capacity) == [])
        for _ in 0..<2 {
            guard case .unwanted = account.offer(Notification(.a, "2"), capacity, ThreadGate()) else {
                Issue.record("it is taken in, or dropped")
                return
            }
        }
        let late = Notification(.a, "3")
        let isAwaited = account.addAwaited(ObjectIdentifier(Feed()), late)
        #expect(!isAwaited)
        let closed = account.close()
        #expect(closed.notifications.isEmpty && closed.gates.isEmpty)
    }

    @Test func `one of a kind that has been delivered may wait again`() {
        let capacity = Capacity.coalescing(.onName)
        var account = DeliveryAccount()
        #expect(["1", "2"].map { Self.offer($0, &account, capacity) } == [0, nil])
        #expect(Self.deliver(0, &account, capacity) == ["1"])
        #expect(Self.offer("3", &account, capacity) == 1)
    }

    @Test func `a poster is let through only when there is room for it`() {
        let capacity = Capacity.bounded(1, .block(until: .seconds(1)))
        var account = DeliveryAccount()
        let gate = ThreadGate()
        // The second one is of a thread that cannot wait.
        #expect(["1", "2"].map { Self.offer($0, &account, capacity) } == [0, 1])
        guard case .wait = account.offer(Notification(.a, "3"), capacity, gate) else {
            Issue.record("it does not wait")
            return
        }
        let first = account.next(of: 0, capacity)
        #expect(first != nil && first?.gate == nil)
        let second = account.next(of: 1, capacity)
        #expect(second?.gate === gate)
    }

    @Test func `whatever is sent when, all that is taken in is delivered, in order`() {
        for capacity in [
            Capacity.bounded(9, .dropNewest), .bounded(1, .dropNewest), .bounded(2, .dropOldest),
        ] {
            var account = DeliveryAccount()
            var texts = ["1", "2", "3", "4"]
            Self.explore(&account, &texts, [], [], capacity)
        }
    }

    /// Goes on in every way: another one is taken in, or a turn that was given comes.
    private static func explore(
        _ account: inout DeliveryAccount, _ texts: inout [String], _ turns: [Int], _ delivered: [String],
        _ capacity: NotificationRedirector.Capacity
    ) {
        if let text = texts.last {
            var (next, rest, turns) = (account, texts, turns)
            rest.removeLast()
            if let turn = offer(text, &next, capacity) { turns.append(turn) }
            explore(&next, &rest, turns, delivered, capacity)
        }
        for index in turns.indices {
            var (next, rest, turns) = (account, texts, turns)
            let arrived = deliver(turns.remove(at: index), &next, capacity)
            explore(&next, &rest, turns, delivered + arrived, capacity)
        }
        if !texts.isEmpty || !turns.isEmpty { return }
        #expect(account.close().notifications.isEmpty)
        #expect(delivered == delivered.sorted(by: >))
        #expect(!delivered.isEmpty)
    }
}
