import Foundation
import Notifications
import RunLoops
import TestSupport
import Testing

import struct Notifications.Notification
import class Notifications.NotificationCenter
import class Notifications.NotificationQueue

/// The code of the article "Coming from Foundation": both modules in one file.
@Suite struct FoundationSnippets {
    @Test func `with scoped imports the plain names are ours`() {
        let print = Printed()
        let center = NotificationCenter()
        let token = center.addObserver(forName: .init("saved")) { note in print(note.name.rawValue) }
        center.post(name: .init("saved"))
        Foundation.NotificationCenter.default.post(name: .init("saved"), object: nil)
        token.remove()
        #expect(print.lines == ["saved"])
    }

    @Test func `notifications of Foundation's center are passed on`() {
        let print = Printed()
        let theirs = Foundation.NotificationCenter()
        let ours = NotificationCenter()
        let seen = ours.addObserver(forName: .init("saved")) { note in print(note.name.rawValue) }
        let bridge = theirs.addObserver(forName: .init("saved"), object: nil, queue: nil) { note in
            ours.post(name: .init(note.name.rawValue))
        }
        theirs.post(name: .init("saved"), object: nil)
        theirs.removeObserver(bridge)
        seen.remove()
        #expect(print.lines == ["saved"])
    }
}
