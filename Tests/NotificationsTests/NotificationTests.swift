import Notifications
import Testing

/// What a notification carries.
@Suite struct NotificationTests {
    private final class Feed: Sendable {}

    @Test func `a notification's sender is its object`() {
        let feed = Feed()
        let note = Notification(name: .init("prices"), object: feed, userInfo: ["count": 2])
        #expect(note.sender == ObjectIdentifier(feed))
        #expect(note.object === feed)
        #expect(note.userInfo["count"] as? Int == 2)
    }

    @Test func `a sender's identity alone does not keep it alive`() {
        weak var alive: Feed?
        let note: Notification
        do {
            let feed = Feed()
            alive = feed
            note = Notification(name: .init("prices"), sender: ObjectIdentifier(feed))
        }
        #expect(alive == nil)
        #expect(note.object == nil)
        #expect(note.sender != nil)
    }

    @Test func `a notification remembers where it was made`() {
        let line = #line + 1
        let note = Notification(name: .init("prices"))
        #expect(note.line == line)
        #expect(note.description == "prices, made at NotificationsTests/NotificationTests.swift:\(line)")
    }
}
