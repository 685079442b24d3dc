import Notifications
import TestSupport
import Testing

/// The notifications that an observer receives: names are compared as text, objects by identity.
@Suite struct NotificationMatchingTests {
    /// An object that equals every other object of the class.
    private final class Equal: Sendable, Equatable {
        static func == (left: Equal, right: Equal) -> Bool { true }
    }

    @Test func `an observer of an object sees that very object, not an equal one and not none`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let (mine, other) = (Equal(), Equal())
        let token = center.addObserver(forName: .a, object: mine) { note in log.add(note.text) }
        center.post(Notification(.a, "other", object: other))
        center.post(Notification(.a, "none"))
        center.post(Notification(.a, "mine", object: mine))
        center.post(Notification(.b, "another name", object: mine))
        center.post(Notification(name: .a, sender: ObjectIdentifier(mine), userInfo: ["text": "identity"]))
        #expect(log.entries == ["mine", "identity"])
        token.remove()
    }

    @Test func `an observer of no object sees every object, and none`() {
        let recorder = Recorder()
        let feed = Feed()
        recorder.center.post(Notification(.a, "object", object: feed))
        recorder.center.post(Notification(.a, "none"))
        recorder.center.post(
            Notification(name: .a, sender: ObjectIdentifier(feed), userInfo: ["text": "identity"]))
        #expect(recorder.texts == ["object", "none", "identity"])
    }

    @Test func `every name of one object may be observed`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let feed = Feed()
        let token = center.addObserver(forName: nil, object: feed) { note in log.add(note.text) }
        center.post(name: .a, object: feed)
        center.post(name: .b, object: feed)
        center.post(name: .c, object: Feed())
        center.post(name: .c)
        #expect(log.entries == ["a", "b"])
        token.remove()
    }

    @Test func `names are equal if their texts are, wherever they were made`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let token = center.addObserver(forName: Notification.Name("prices of today")) { note in
            log.add(note.text)
        }
        center.post(
            Notification(
                Notification.Name(rawValue: ["prices", "of", "today"].joined(separator: " ")), "alike"))
        center.post(Notification(Notification.Name("Prices of today"), "other letters"))
        center.post(Notification(Notification.Name("prices of"), "shorter"))
        #expect(log.entries == ["alike"])
        token.remove()
    }

    @Test func `after its object was destroyed an observer is not called, even for an equal identity`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let identity: ObjectIdentifier
        let token: ObservationToken
        do {
            let feed = Feed()
            identity = ObjectIdentifier(feed)
            token = center.addObserver(forName: .a, object: feed) { note in log.add(note.text) }
            center.post(Notification(name: .a, sender: identity, userInfo: ["text": "alive"]))
        }
        // As if a new object had the address of the old one.
        center.post(Notification(name: .a, sender: identity, userInfo: ["text": "gone"]))
        #expect(log.entries == ["alive"])
        token.remove()
    }

    @Test func `the object that is observed is not kept alive`() {
        let center = NotificationCenter()
        let gone = Gate()
        let token: ObservationToken
        do {
            let canary = Canary(gone)
            token = center.addObserver(forName: .a, object: canary) { _ in }
            canary.sing()
        }
        #expect(gone.wait(seconds: 0))
        token.remove()
    }

    @Test func `a notification keeps its facts for every observer`() {
        let center = NotificationCenter()
        let log = Log<Int>()
        let tokens = (0..<3).map { _ in
            center.addObserver(forName: .a) { note in
                if let count = note.userInfo["count"] as? Int { log.add(count) }
            }
        }
        center.post(name: .a, userInfo: ["count": 7])
        #expect(log.entries == [7, 7, 7])
        for token in tokens { token.remove() }
    }
}
