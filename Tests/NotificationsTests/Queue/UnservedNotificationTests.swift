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
}
