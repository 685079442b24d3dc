import Notifications
import RunLoops
import TestSupport
import Testing

extension Notification.Name {
    static let layoutNeeded = Notification.Name("com.example.layoutNeeded")
    static let bytesReceived = Notification.Name("com.example.bytesReceived")
}

/// The code of the articles "Posting later" and "Coalescing".
@Suite struct CoalescingSnippets {
    @Test func `notifications that match are posted once`() throws {
        let print = Printed()
        try onLoopThread { _ in
            let center = NotificationCenter()
            let queue = NotificationQueue(notificationCenter: center)
            let token = center.addObserver(forName: .layoutNeeded) { _ in print("layout") }
            for _ in 1...3 { queue.enqueue(Notification(name: .layoutNeeded), postingStyle: .asap) }
            print("nothing yet")
            RunLoop.current.run(until: .now)
            token.remove()
        }
        #expect(print.lines == ["nothing yet", "layout"])
    }

    @Test func `each style has its moment`() throws {
        // The timer is due after a tenth of a second, which can pass before the loop is idle.
        let isSeen = try isSeenOnce { try Self.showStyles() == ["at once", "end of pass", "idle", "timer"] }
        #expect(isSeen)
    }

    private static func showStyles() throws -> [String] {
        let print = Printed()
        try onLoopThread { _ in
            let center = NotificationCenter()
            let queue = NotificationQueue(notificationCenter: center)
            let token = center.addObserver(forName: nil) { note in print(note.name.rawValue) }
            queue.enqueue(Notification(name: .init("idle")), postingStyle: .whenIdle)
            queue.enqueue(Notification(name: .init("end of pass")), postingStyle: .asap)
            queue.enqueue(Notification(name: .init("at once")), postingStyle: .now)
            Timer.scheduledTimer(withTimeInterval: .milliseconds(100), repeats: false) { _ in
                print("timer")
                RunLoop.current.stop()
            }
            RunLoop.current.run()
            token.remove()
        }
        return print.lines
    }

    @Test func `a waiting notification is merged with a new one`() throws {
        let print = Printed()
        try onLoopThread { _ in
            let center = NotificationCenter()
            let queue = NotificationQueue(notificationCenter: center)
            let token = center.addObserver(forName: .bytesReceived) { note in
                print(note.userInfo["count"] ?? 0)
            }
            for count in [10, 20, 30] {
                queue.enqueue(
                    Notification(name: .bytesReceived, userInfo: ["count": count]), postingStyle: .asap,
                    keeping: .merge { old, new in
                        let counts = [old, new].compactMap { $0.userInfo["count"] as? Int }
                        return Notification(name: old.name, userInfo: ["count": counts.reduce(0, +)])
                    })
            }
            RunLoop.current.run(until: .now)
            token.remove()
        }
        #expect(print.lines == ["60"])
    }
}
