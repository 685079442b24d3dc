import Foundation
import FoundationRunLoops
import TestSupport
import Testing

/// Observers are registered, called and removed as with Foundation.
@Suite struct ObservingTests {
    private final class Sender: Sendable {}
    private let center = NotificationCenter()
    private let name = Notification.Name("observed")

    @Test func `a token need not be kept`() {
        let print = Printed()
        center.addObserver(forName: name, object: nil, queue: nil) { _ in print("called") }
        center.post(name: name, object: nil)
        #expect(print.lines == ["called"])
    }

    // Guarantees: A token's observation continues until it is removed or its center is destroyed, and then its handler is released.
    @Test func `a removed token's handler is called no more, and is released`() {
        let print = Printed()
        weak var held: Sender?
        let token: any NSObjectProtocol
        do {
            let sender = Sender()
            held = sender
            token = center.addObserver(forName: name, object: nil, queue: nil) { _ in
                withExtendedLifetime(sender) { print("called") }
            }
        }
        center.post(name: name, object: nil)
        #expect(held != nil)
        center.removeObserver(token)
        center.removeObserver(token, name: .init("other"), object: nil)
        center.post(name: name, object: nil)
        #expect(held == nil)
        #expect(print.lines == ["called"])
    }

    // Guarantees: A token's observation continues until it is removed or its center is destroyed, and then its handler is released.
    @Test func `a center that is destroyed releases the handlers of tokens that live on`() {
        weak var held: Sender?
        var own: NotificationCenter? = NotificationCenter()
        let token: (any NSObjectProtocol)?
        do {
            let sender = Sender()
            held = sender
            token = own?.addObserver(forName: name, object: nil, queue: nil) { _ in
                withExtendedLifetime(sender) {}
            }
        }
        #expect(held != nil)
        own = nil
        #expect(held == nil)
        token.map(center.removeObserver)
    }

    @Test func `instances are compared by identity, and not kept alive`() {
        let print = Printed()
        var one: Sender? = Sender()
        weak let isOne = one
        center.addObserver(forName: name, object: one, queue: nil) { _ in print("one") }
        center.post(name: name, object: one)
        center.post(name: name, object: Sender())
        center.post(name: name, object: nil)
        one = nil
        #expect(isOne == nil)
        #expect(print.lines == ["one"])
    }

    @Test func `hashable values are compared by equality`() {
        let print = Printed()
        center.addObserver(forName: name, object: "a" + String(1), queue: nil) {
            print("\($0.object as? String ?? "")")
        }
        center.addObserver(forName: name, object: 7, queue: nil) { _ in print("seven") }
        for object: Any in ["a1", "a2", 7, 7 as UInt8, 8] { center.post(name: name, object: object) }
        #expect(print.lines == ["a1", "seven", "seven"] || print.lines == ["a1", "seven"])
    }

    @Test func `a value that is not hashable is equal to none`() {
        struct Plain: Sendable {}
        let print = Printed()
        center.addObserver(forName: name, object: Plain(), queue: nil) { _ in print("never") }
        center.addObserver(forName: name, object: nil, queue: nil) { print("\($0.object is Plain)") }
        center.post(name: name, object: Plain())
        #expect(print.lines == ["true"])
    }

    @Test func `object and facts are those that were posted`() {
        let print = Printed()
        let sender = Sender()
        center.addObserver(forName: name, object: nil, queue: nil) { note in
            print("\(note.object as AnyObject === sender) \(note.userInfo?[5] as? String ?? "")")
        }
        center.post(name: name, object: sender, userInfo: [5: "five"])
        center.post(Notification(name: name, object: sender))
        #expect(print.lines == ["true five", "true "])
    }

    @Test func `the facts of a post by the core are seen in Foundation's types`() {
        let print = Printed()
        center.addObserver(forName: name, object: nil, queue: nil) { note in
            print("\(note.userInfo?["a"] as? Int ?? 0)")
        }
        center.post(Notification(name: name, sender: ObjectIdentifier(self.center), userInfo: ["a": 1]))
        #expect(print.lines == ["1"])
    }

    @Test func `equal notifications have the same name, object and facts`() {
        let sender = Sender()
        let note = Notification(name: name, object: sender, userInfo: ["a": 1])
        #expect(note == Notification(name: name, object: sender, userInfo: ["a": 1]))
        #expect(note.hashValue == Notification(name: name, object: sender, userInfo: ["a": 1]).hashValue)
        #expect(note != Notification(name: name, object: sender, userInfo: ["a": 2]))
        #expect(note != Notification(name: name, object: sender))
        #expect(note != Notification(name: name, object: Sender(), userInfo: ["a": 1]))
        #expect(Notification(name: name, object: "x") == Notification(name: name, object: "x"))
    }

    @Test func `an object that was registered with a closure is removed by its identity`() {
        final class Keeper: Sendable {}
        let print = Printed()
        let (keeper, other) = (Keeper(), Keeper())
        for keeper in [keeper, other] {
            center.addObserver(keeper, name: name) { _, _ in print("called") }
        }
        center.removeObserver(keeper)
        center.removeObserver(other, name: Notification.Name("another"), object: nil)
        center.removeObserver("no observer")
        center.post(name: name, object: nil)
        #expect(print.lines == ["called"])
        center.removeObserver(other, name: name, object: nil)
        center.post(name: name, object: nil)
        #expect(print.lines == ["called"])
    }
}
