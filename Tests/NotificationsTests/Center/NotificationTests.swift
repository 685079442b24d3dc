import Notifications
import TestSupport
import Testing

/// The contents of a notification.
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

    @Test func `names and coalescing masks print their meaning`() {
        #expect("\(Notification.Name("prices"))" == "prices")
        let mask: NotificationQueue.NotificationCoalescing = [.onName, .onSender]
        #expect("\(mask)" == "[onName, onSender]")
    }

    @Test func `a notification may cross threads, with all that it refers to`() throws {
        // A value that is not `Sendable` does not compile here.
        func requireSendable<Value: Sendable>(_: Value) {}
        let feed = Feed()
        let note = Notification(name: .init("prices"), object: feed, userInfo: ["count": 2])
        requireSendable(note)
        requireSendable(note.object)
        requireSendable(note.userInfo)
        let other = Log<Bool>()
        try Threads(1) { _ in other.add(note.object === feed && note.userInfo["count"] as? Int == 2) }.join()
        #expect(other.entries == [true])
    }

    // The test calls the compiler, because another module in this process makes notifications comparable.
    @Test(.enabled(if: TypeChecker.isAvailable))
    func `notifications are not comparable, so none equals another with different facts`() throws {
        for name in ["Equatable", "Encodable", "Decodable"] {
            let errors = try TypeChecker.errors(
                in: """
                    import Notifications
                    func require(_ type: (some \(name)).Type) {}
                    require(Notification.self)
                    """)
            #expect(errors.count == 1, "\(errors)")
            #expect(errors.first?.contains("'Notification' conform to '\(name)'") == true, "\(errors)")
        }
    }
}
