import RunLoops
import Testing

@testable import Notifications

/// The queue of an observer with a capacity, as a value, and the notifications of each delivery.
@Suite struct BoundedDeliveryQueueTests {
    private typealias Capacity = NotificationCenter.Capacity

    /// The notifications that the delivery with this number delivers.
    private static func deliver(
        _ turn: Int, _ queue: inout BoundedDeliveryQueue, _ capacity: NotificationCenter.Capacity
    ) -> [String] {
        var delivered: [String] = []
        while let next = queue.next(upTo: turn, capacity) { delivered.append(next.notification.text) }
        return delivered
    }

    /// Offers a notification, and returns the number of the delivery to send for it.
    private static func offer(
        _ text: String, _ queue: inout BoundedDeliveryQueue, _ capacity: NotificationCenter.Capacity,
        _ gate: ThreadGate? = nil
    ) -> Int? {
        if case .send(let number) = queue.offer(Notification(.a, text), capacity, gate) {
            return number
        }
        return nil
    }

    @Test func `a delivery delivers everything up to its number, and a late one nothing`() {
        let capacity = Capacity.bounded(3, .dropNewest)
        var queue = BoundedDeliveryQueue()
        #expect(["1", "2", "3"].map { Self.offer($0, &queue, capacity) } == [0, 1, 2])
        #expect(Self.offer("4", &queue, capacity) == nil)
        #expect(queue.next(upTo: 1, capacity)?.isLast == false)
        #expect(queue.next(upTo: 1, capacity)?.isLast == true)
        #expect(Self.deliver(0, &queue, capacity) == [])
        #expect(Self.offer("5", &queue, capacity) == 3)
        #expect(Self.deliver(2, &queue, capacity) == ["3"])
        #expect(Self.deliver(3, &queue, capacity) == ["5"])
    }

    @Test func `a notification that replaces the oldest gets the last number`() {
        let capacity = Capacity.bounded(2, .dropOldest)
        var queue = BoundedDeliveryQueue()
        #expect(["1", "2", "3"].map { Self.offer($0, &queue, capacity) } == [0, 1, nil])
        #expect(Self.deliver(0, &queue, capacity) == ["2"])
        #expect(Self.deliver(1, &queue, capacity) == ["3"])
        #expect(Self.offer("4", &queue, capacity) == 2)
    }

    @Test(arguments: [
        NotificationCenter.Capacity.bounded(3, .dropNewest), .bounded(1, .dropOldest),
        .bounded(1, .block(atMost: .seconds(1))),
        .coalescing(.onName),
    ]) func `after the end deliveries find nothing, and nothing is accepted`(
        capacity: NotificationCenter.Capacity
    ) {
        var queue = BoundedDeliveryQueue()
        #expect(Self.offer("1", &queue, capacity) == 0)
        #expect(queue.close().notifications.map(\.text) == ["1"])
        #expect(Self.deliver(0, &queue, capacity) == [])
        for _ in 0..<2 {
            guard case .removed = queue.offer(Notification(.a, "2"), capacity, ThreadGate()) else {
                Issue.record("it is taken in, or dropped")
                return
            }
        }
        let late = Notification(.a, "3")
        let isAwaited = queue.addAwaited(ObjectIdentifier(Feed()), late)
        #expect(!isAwaited)
        let closed = queue.close()
        #expect(closed.notifications.isEmpty && closed.gates.isEmpty)
    }

    @Test func `after a delivery, a notification that matches it may wait again`() {
        let capacity = Capacity.coalescing(.onName)
        var queue = BoundedDeliveryQueue()
        #expect(["1", "2"].map { Self.offer($0, &queue, capacity) } == [0, nil])
        #expect(Self.deliver(0, &queue, capacity) == ["1"])
        #expect(Self.offer("3", &queue, capacity) == 1)
    }

    @Test func `a poster is let in only when there is room for it`() {
        let capacity = Capacity.bounded(1, .block(atMost: .seconds(1)))
        var queue = BoundedDeliveryQueue()
        let gate = ThreadGate()
        // The second notification comes from a thread that cannot wait.
        #expect(["1", "2"].map { Self.offer($0, &queue, capacity) } == [0, 1])
        guard case .wait = queue.offer(Notification(.a, "3"), capacity, gate) else {
            Issue.record("it does not wait")
            return
        }
        let first = queue.next(upTo: 0, capacity)
        #expect(first != nil && first?.gate == nil)
        let second = queue.next(upTo: 1, capacity)
        #expect(second?.gate === gate)
    }

    // Guarantees: An observer with a capacity never holds more notifications than may wait, whether the loop runs or not.
    @Test func `in any order of deliveries, all accepted notifications are delivered, in order`() {
        for capacity in [
            Capacity.bounded(9, .dropNewest), .bounded(1, .dropNewest), .bounded(2, .dropOldest),
        ] {
            var queue = BoundedDeliveryQueue()
            var texts = ["1", "2", "3", "4"]
            Self.explore(&queue, &texts, [], [], capacity)
        }
    }

    /// Continues in every possible way: another notification is accepted, or a sent delivery arrives.
    private static func explore(
        _ queue: inout BoundedDeliveryQueue, _ texts: inout [String], _ turns: [Int], _ delivered: [String],
        _ capacity: NotificationCenter.Capacity
    ) {
        if let text = texts.last {
            var (next, rest, turns) = (queue, texts, turns)
            rest.removeLast()
            if let turn = offer(text, &next, capacity) { turns.append(turn) }
            explore(&next, &rest, turns, delivered, capacity)
        }
        for index in turns.indices {
            var (next, rest, turns) = (queue, texts, turns)
            let arrived = deliver(turns.remove(at: index), &next, capacity)
            explore(&next, &rest, turns, delivered + arrived, capacity)
        }
        if !texts.isEmpty || !turns.isEmpty { return }
        #expect(queue.close().notifications.isEmpty)
        #expect(delivered == delivered.sorted(by: >))
        #expect(!delivered.isEmpty)
    }
}
