import Foundation
import FoundationRunLoops
import TestSupport
import Testing

/// The objects of notifications, in the ways in which an `Any` can hold them.
@Suite struct ComparedObjectTests {
    private final class Player: Sendable {}
    private enum Kind {}

    private let center = NotificationCenter()
    private let name = Notification.Name("compared")

    /// Returns how many of the objects' posts reach an observer of `observed`.
    private func calls(observing observed: Any?, posting objects: [Any?]) -> Int {
        let log = Log<Int>()
        let token = center.addObserver(forName: name, object: observed, queue: nil) { _ in log.add(1) }
        for object in objects { center.post(name: name, object: object) }
        center.removeObserver(token)
        return log.entries.count
    }

    @Test func `an object in an optional is the object`() {
        let player = Player()
        let once: Player? = player
        let twice: Player?? = player
        for observed in [player as Any, once as Any, twice as Any] {
            let posted: [Any?] = [player, once, once as Any, twice as Any, Player(), nil]
            #expect(calls(observing: observed, posting: posted) == 4)
        }
    }

    @Test func `a value in an optional is the value`() {
        let once: Int? = 5
        #expect(calls(observing: once as Any, posting: [5, once, once as Any, 6]) == 3)
        #expect(calls(observing: 5, posting: [once as Any, once]) == 2)
    }

    @Test func `an empty optional equals an empty optional, and no object`() {
        let none: Player? = nil
        #expect(calls(observing: none as Any, posting: [none as Any, none, Player()]) == 1)
    }

    @Test func `a type is an object of its own`() {
        #expect(calls(observing: Player.self, posting: [Player.self, Kind.self, Player()]) == 1)
        #expect(
            calls(observing: Kind.self, posting: [Player.self, Kind.self, ObjectIdentifier(Kind.self)]) == 1)
    }

    @Test func `an observer in an optional is removed`() {
        let log = Log<String>()
        let observer: Player? = Player()
        let object: Player? = Player()
        guard let observer, let object else { return }
        center.addObserver(observer, name: name, object: object) { _, _ in log.add("called") }
        center.removeObserver(observer as Player? as Any, name: name, object: object as Player? as Any)
        center.post(name: name, object: object)
        let token: (any NSObjectProtocol)? = center.addObserver(forName: name, object: nil, queue: nil) { _ in
            log.add("token")
        }
        center.removeObserver(token as Any)
        center.post(name: name, object: object)
        #expect(log.entries.isEmpty)
    }

    @Test func `waiting notifications of one object are merged, however an Any holds it`() throws {
        let log = Log<Int>()
        try onLoopThread { loop in
            let center = NotificationCenter()
            let queue = NotificationQueue(notificationCenter: center)
            let token = center.addObserver(forName: name, object: nil, queue: nil) { _ in log.add(1) }
            let player: Player? = Player()
            for object in [player as Any, player!, Player.self, Player.self] as [Any] {
                queue.enqueue(Notification(name: name, object: object), postingStyle: .asap)
            }
            queue.enqueue(Notification(name: name, object: 7), postingStyle: .asap)
            queue.dequeueNotifications(
                matching: Notification(name: name, object: Int?.some(7) as Any),
                coalesceMask: [.onName, .onSender])
            loop.run(until: .now)
            center.removeObserver(token)
        }
        #expect(log.entries == [1, 1])
    }

    @Test func `notifications of one object are equal, and facts in optionals are the facts`() {
        let player = Player()
        let optional: Player? = player
        let about = { (object: Any) in Notification(name: Notification.Name("compared"), object: object) }
        let with = { (fact: Any) in Notification(name: Notification.Name("compared"), userInfo: ["a": fact]) }
        #expect(about(player) == about(optional as Any))
        #expect(about(Player.self) == about(Player.self))
        #expect(about(Player.self) != about(Kind.self))
        #expect(with(player) == with(optional as Any))
        #expect(with(Kind.self) == with(Kind.self))
        #expect(with(Kind.self) != with(Player.self))
    }
}
