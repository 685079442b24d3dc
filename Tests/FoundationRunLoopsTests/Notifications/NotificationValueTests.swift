import Foundation
import FoundationRunLoops
import TestSupport
import Testing

/// A notification is a value that code changes and prints, as it does with Foundation's.
@Suite struct NotificationValueTests {
    private static let name = Notification.Name("value")

    @Test func `name, object and facts can be set`() {
        var note = Notification(name: NotificationValueTests.name)
        let line = note.line
        note.userInfo = ["k": 1]
        note.object = "s"
        note.name = Notification.Name("other")
        #expect(note.name.rawValue == "other" && note.line == line)
        #expect(note.object as? String == "s" && note.userInfo?["k"] as? Int == 1)
        note.userInfo?["l"] = 2
        note.object = nil
        #expect(note.object == nil && note.userInfo?.count == 2)
        note.userInfo = nil
        #expect(note.userInfo == nil && note == Notification(name: Notification.Name("other")))
    }

    @Test func `an object that is set is the one that observers compare`() {
        let center = NotificationCenter()
        let log = Log<String>()
        let object = NSObject()
        let token = center.addObserver(forName: NotificationValueTests.name, object: object, queue: nil) {
            note in
            log.add(note.userInfo?["k"] as? String ?? "none")
        }
        var note = Notification(name: NotificationValueTests.name, object: NSObject(), userInfo: ["k": "v"])
        center.post(note)
        note.object = object
        center.post(note)
        center.removeObserver(token)
        #expect(log.entries == ["v"])
    }

    @Test func `a copy that is changed leaves the original`() {
        let note = Notification(name: NotificationValueTests.name, object: "a", userInfo: ["k": 1])
        var copy = note
        copy.object = "b"
        copy.userInfo?["k"] = 2
        #expect(note.object as? String == "a" && note.userInfo?["k"] as? Int == 1)
    }

    @Test func `a sender that has given its identity alone stays when facts are set`() {
        let sender = NSObject()
        var note = Notification(name: NotificationValueTests.name, sender: ObjectIdentifier(sender))
        note.userInfo = ["k": 1]
        #expect(note.sender == ObjectIdentifier(sender) && note.object == nil)
        #expect(note.userInfo?["k"] as? Int == 1)
    }

    @Test func `a mirror and the description for debugging show name, object and facts`() {
        let note = Notification(name: NotificationValueTests.name, object: 5, userInfo: ["a": 1])
        #expect(note.debugDescription == "name = value, object = 5, userInfo = [AnyHashable(\"a\"): 1]")
        #expect(note.customMirror.children.map { $0.label ?? "" } == ["name", "object", "userInfo"])
        #expect(Mirror(reflecting: Notification(name: NotificationValueTests.name)).children.count == 1)
    }

    @Test func `facts that are not Sendable are taken in a literal`() {
        final class Fact {}
        let (center, log) = (NotificationCenter(), Log<Int>())
        let fact = Fact()
        let token = center.addObserver(forName: NotificationValueTests.name, object: nil, queue: nil) {
            note in
            log.add(note.userInfo?.count ?? -1)
        }
        center.post(
            name: NotificationValueTests.name, object: nil, userInfo: ["fact": fact, "any": 5 as Any])
        center.post(Notification(name: NotificationValueTests.name, userInfo: ["fact": fact]))
        center.post(name: NotificationValueTests.name, object: nil, userInfo: [:])
        center.post(name: NotificationValueTests.name, object: nil, userInfo: ["a": 1, 7: 2])
        center.removeObserver(token)
        #expect(log.entries == [2, 1, 0, 2])
    }
}
