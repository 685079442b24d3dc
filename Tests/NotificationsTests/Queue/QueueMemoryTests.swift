import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import Notifications

/// A queue holds only the notifications that wait, however long it works.
@Suite struct QueueMemoryTests {
    private static let custom = RunLoop.Mode("custom")

    @Test func `a posted notification is released, though one that matches still waits`() throws {
        let alive = Shared()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: NotificationCenter())
            // The mode does not run, so this notification remains the oldest of its name and sender.
            queue.enqueue(Notification(name: .a), postingStyle: .asap, forModes: [Self.custom])
            for _ in 0..<100 {
                queue.enqueue(
                    Notification(name: .a, userInfo: ["facts": Counted(alive)]), postingStyle: .asap,
                    coalesceMask: [])
            }
            loop.pass()
            #expect(alive.count == 0)
        }
    }

    @Test func `a notification that was replaced or dequeued is released at once`() throws {
        let alive = Shared()
        try onLoopThread { _ in
            let queue = NotificationQueue(notificationCenter: NotificationCenter())
            queue.enqueue(Notification(name: .b), postingStyle: .asap)
            for style in [NotificationQueue.PostingStyle.asap, .whenIdle, .asap] {
                queue.enqueue(
                    Notification(name: .a, userInfo: ["facts": Counted(alive)]), postingStyle: style,
                    keeping: .latest, forModes: [Self.custom])
                #expect(alive.count == 1)
            }
            queue.enqueue(
                Notification(name: .a), postingStyle: .asap, keeping: .merge { _, new in new })
            #expect(alive.count == 0)
            queue.enqueue(
                Notification(name: .c, userInfo: ["facts": Counted(alive)]), postingStyle: .asap)
            queue.dequeueNotifications(matching: Notification(name: .c), coalesceMask: .onName)
            #expect(alive.count == 0)
        }
    }

    @Test func `an object that is destroyed with a notification may use the queue`() throws {
        let recorder = Recorder()
        try onLoopThread { loop in
            let queue = NotificationQueue(notificationCenter: recorder.center)

            /// A notification that enqueues another one when it is destroyed.
            func parting(_ text: String) -> Notification {
                let last = Canary {
                    let words = Notification(.a, "\(text)'s last words")
                    queue.enqueue(words, postingStyle: .asap, keeping: .merge { old, _ in old })
                    queue.dequeueNotifications(matching: Notification(name: .c), coalesceMask: .onName)
                }
                return Notification(name: .a, userInfo: ["text": text, "last": last])
            }

            queue.enqueue(parting("posted"), postingStyle: .asap)
            loop.run()
            queue.enqueue(Notification(.b, "older"), postingStyle: .asap)
            queue.enqueue(parting("taken out"), postingStyle: .asap)
            queue.dequeueNotifications(matching: Notification(name: .a), coalesceMask: .onName)
            loop.run()
            queue.enqueue(parting("replaced"), postingStyle: .asap)
            queue.enqueue(Notification(.a, "merged"), postingStyle: .asap, keeping: .merge { _, new in new })
            loop.run()
        }
        #expect(
            recorder.texts == [
                "posted", "posted's last words", "older", "taken out's last words", "merged",
            ])
    }

    @Test func `a queue forgets lists of modes that nothing waits for`() {
        let queue = CoalescingQueue(NotificationCenter())
        for number in 0..<100 {
            let note = Notification(name: .a)
            queue.enqueue(note, on: queue.asap, .onName, .latest, [.init("custom \(number)")])
            queue.enqueue(Notification(name: .b), on: queue.idle, [], .first, [.init("idle \(number)")])
        }
        #expect(queue.asap.groups.count < 10)
        // A notification waits for each of these modes.
        #expect(queue.idle.groups.count == 100)
        let waiting = Notification(name: .b)
        queue.remove(matching: waiting, .onName)
        queue.enqueue(waiting, on: queue.idle, [], .first, [.default])
        #expect(queue.idle.groups.count == 1)
        #expect(queue.idle.holdsWork(for: .default, isCommon: false))
    }
}
