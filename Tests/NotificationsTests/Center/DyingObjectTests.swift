import Notifications
import RunLoops
import TestSupport
import Testing

/// Notifications and messages about an object that is being destroyed, which it posts itself.
@Suite struct DyingObjectTests {
    private final class Document: Sendable {
        let center: NotificationCenter
        init(_ center: NotificationCenter) { self.center = center }
        deinit { center.post(Notification(.a, "closed", object: self)) }
    }

    private struct Closed: NotificationMessage { typealias Subject = Speaker }

    private final class Speaker: Sendable {
        let center: NotificationCenter
        init(_ center: NotificationCenter) { self.center = center }
        deinit { center.post(Closed(), subject: self) }
    }

    @Test func `an observer of an object sees what the object posts in its deinit`() {
        let center = NotificationCenter()
        let log = Log<String>()
        var document: Document? = Document(center)
        let token = center.addObserver(forName: .a, object: document) { note in log.add(note.text) }
        document = nil
        #expect(log.entries == ["closed"])
        token.remove()
    }

    @Test func `an observer of a subject sees the message that the subject posts in its deinit`() {
        let center = NotificationCenter()
        let log = Log<Int>()
        var speaker: Speaker? = Speaker(center)
        let token = center.addObserver(of: speaker, for: Closed.self) { _ in log.add(1) }
        speaker = nil
        #expect(log.entries == [1])
        token.remove()
    }

    @Test func `while an object is observed, no other object gets its address`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let identity: ObjectIdentifier
        let token: ObservationToken
        do {
            let feed = Feed()
            identity = ObjectIdentifier(feed)
            token = center.addObserver(forName: .a, object: feed) { note in log.add(note.text) }
        }
        let feeds = (0..<1000).map { _ in Feed() }
        for feed in feeds { center.post(Notification(.a, "another", object: feed)) }
        #expect(!feeds.contains { ObjectIdentifier($0) == identity })
        #expect(log.entries.isEmpty)
        token.remove()
    }

    @Test func `an observer on a loop is not given an object that is being destroyed`() throws {
        let center = NotificationCenter()
        let log = Log<String>()
        try onLoopThread { loop in
            var document: Document? = Document(center)
            let token = center.addObserver(forName: .a, object: document, on: loop) { note in
                log.add(note.text)
            }
            document = nil
            loop.run(until: .now)
            token.remove()
        }
        #expect(log.entries.isEmpty)
    }
}
