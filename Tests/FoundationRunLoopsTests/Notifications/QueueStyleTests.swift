import Foundation
import FoundationRunLoops
import TestSupport
import Testing

/// The notification queue accepts Foundation's arguments.
@Suite struct QueueStyleTests {
    private let name = Notification.Name("styled")

    @Test func `each style posts in its time`() throws {
        let print = Printed()
        try onLoopThread { loop in
            let center = NotificationCenter()
            let queue = NotificationQueue(notificationCenter: center)
            center.addObserver(forName: nil, object: nil, queue: nil) { print($0.name.rawValue) }
            queue.enqueue(Notification(name: .init("idle")), postingStyle: .whenIdle)
            queue.enqueue(Notification(name: .init("asap")), postingStyle: .asap)
            queue.enqueue(Notification(name: .init("now")), postingStyle: .now)
            let timer = Timer(timeInterval: 0.5, repeats: false) { _ in print("timer") }
            loop.add(timer, forMode: .default)
            loop.run(until: Date(timeIntervalSinceNow: 60))
        }
        #expect(print.lines == ["now", "asap", "idle", "timer"])
    }

    @Test func `notifications merge by the mask`() throws {
        try checkMerging(by: .none, leaves: 3)
        try checkMerging(by: .onName, leaves: 1)
        try checkMerging(by: [.onName, .onSender], leaves: 2)
    }

    private func checkMerging(by mask: NotificationQueue.NotificationCoalescing, leaves count: Int) throws {
        let print = Printed()
        try onLoopThread { loop in
            let center = NotificationCenter()
            let queue = NotificationQueue(notificationCenter: center)
            center.addObserver(forName: name, object: nil, queue: nil) { print($0.object as? String ?? "") }
            for object in ["a", "b", "a"] {
                queue.enqueue(
                    Notification(name: name, object: object), postingStyle: .asap, coalesceMask: mask,
                    forModes: nil)
            }
            loop.run(until: Date())
        }
        #expect(print.lines == Array(["a", "b", "a"].prefix(count)))
    }

    @Test func `a mask may be a number`() throws {
        let print = Printed()
        try onLoopThread { loop in
            let center = NotificationCenter()
            let queue = NotificationQueue(notificationCenter: center)
            center.addObserver(forName: nil, object: nil, queue: nil) { print($0.name.rawValue) }
            queue.enqueue(Notification(name: name), postingStyle: .asap)
            queue.enqueue(Notification(name: .init("other")), postingStyle: .asap)
            queue.dequeueNotifications(matching: Notification(name: name), coalesceMask: 1)
            loop.run(until: Date())
        }
        #expect(print.lines == ["other"])
    }
}
