import Notifications
import Testing

extension Notification.Name { static let didConnect = Notification.Name("com.example.didConnect") }

let note = Notification(name: .didConnect, userInfo: ["host": "example.com"])

/// The code of the landing page of Notifications.
@Suite struct NotificationSnippets {
    @Test func `a notification has its name and its facts`() {
        #expect(note.name == .didConnect)
        #expect(note.userInfo["host"] as? String == "example.com")
    }
}
