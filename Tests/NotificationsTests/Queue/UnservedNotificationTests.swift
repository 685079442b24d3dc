import Notifications
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Reports of what a loop holds that has never run, when its thread ends.
@Suite struct UnservedNotificationTests {
    @Test(arguments: [true, false])
    func `a notification that a queue has never posted is reported once`(isIdle: Bool) async {
        await #expect(processExitsWith: .success) { [isIdle] in
            let lines = try unservedLines {
                for modes in [[RunLoop.Mode.default, .common], [.default]] {
                    let notification = Notification(name: Notification.Name("unserved"))
                    NotificationQueue.default.enqueue(
                        notification, postingStyle: isIdle ? .whenIdle : .asap, forModes: modes)
                }
            }
            #expect(lines.filter { $0.contains("unserved") }.count == lines.count, "\(lines)")
            #expect(lines.count == 1, "\(lines)")
        }
    }

    @Test(arguments: [NotificationQueue.PostingStyle.asap, .whenIdle, .now].map(\.rawValue))
    func `a notification of another thread that a queue has never taken is reported once`(
        style: UInt
    ) async {
        await #expect(processExitsWith: .success) { [style] in
            let style = try #require(NotificationQueue.PostingStyle(rawValue: style))
            let lines = try unservedLines {
                let queue = NotificationQueue.default
                try BareThread {
                    queue.enqueue(Notification(name: Notification.Name("unserved")), postingStyle: style)
                }.join()
            }
            #expect(lines.count == 1, "\(lines)")
            #expect(
                lines.allSatisfy { $0.contains("served: notification that another thread has enqueued;") })
        }
    }

    @Test func `an observation that another thread removes is not reported`() async {
        await #expect(processExitsWith: .success) {
            let lines = try unservedLines {
                let token = NotificationCenter.default.addObserver(
                    forName: Notification.Name("unserved"), object: nil, on: RunLoop.current
                ) { _ in }
                try BareThread { NotificationCenter.default.removeObserver(token) }.join()
            }
            #expect(lines == [])
        }
    }
}
