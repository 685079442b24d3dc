import Foundation
import FoundationRunLoops
import TestExpectations
import TestSupport
import Testing

/// A post to Foundation's default center reaches the default center of this package once.
@Suite struct ForwardingTests {
    /// A typed message of Foundation.
    private struct Saved: Foundation.NotificationCenter.AsyncMessage {
        typealias Subject = NSObject
        static var name: Foundation.NSNotification.Name { .init("saved message") }
    }

    private func theirs(_ name: String) -> Foundation.NSNotification.Name { .init(name) }

    // Guarantees: A notification of Foundation's default center reaches each observer here at most once, and is not sent back to
    // Foundation's center.
    @Test func `a name of Foundation's is forwarded once to each observer`() {
        let print = Printed()
        let name = theirs("forwarded")
        let tokens = (1...2).map { number in
            NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { note in
                print("\(number) \(note.object as? String ?? "") \(note.userInfo?["a"] as? Int ?? 0)")
            }
        }
        Foundation.NotificationCenter.default.post(name: name, object: "x", userInfo: ["a": 1])
        #expect(print.lines == ["1 x 1", "2 x 1"])
        for token in tokens { NotificationCenter.default.removeObserver(token) }
        Foundation.NotificationCenter.default.post(name: name, object: nil)
        #expect(print.lines.count == 2)
    }

    // Guarantees: A notification of Foundation's default center reaches each observer here at most once, and is not sent back to
    // Foundation's center.
    @Test func `a post under a name of Foundation's reaches the observers of both centers once`() {
        let print = Printed()
        let name = theirs("both")
        let center = NotificationCenter.default
        let here = center.addObserver(forName: name, object: nil, queue: nil) { _ in print("here") }
        let there = Foundation.NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil)
        { _ in
            print("there")
        }
        center.post(name: name, object: nil)
        #expect(print.lines.sorted() == ["here", "there"])
        center.removeObserver(here)
        Foundation.NotificationCenter.default.removeObserver(there)
    }

    @Test func `a post under a name of this package stays here`() {
        let print = Printed()
        let there = Foundation.NotificationCenter.default.addObserver(
            forName: theirs("ours"), object: nil, queue: nil
        ) { _ in print("there") }
        let name = Notification.Name("ours")
        let here = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in
            print("here")
        }
        NotificationCenter.default.post(name: name, object: nil)
        #expect(print.lines == ["here"])
        NotificationCenter.default.removeObserver(here)
        Foundation.NotificationCenter.default.removeObserver(there)
    }

    @Test func `another center forwards nothing`() {
        let print = Printed()
        let center = NotificationCenter()
        center.addObserver(forName: theirs("apart"), object: nil, queue: nil) { _ in print("here") }
        Foundation.NotificationCenter.default.post(name: theirs("apart"), object: nil)
        #expect(print.lines.isEmpty)
        center.post(name: theirs("apart"), object: nil)
        #expect(print.lines == ["here"])
    }

    // Guarantees: A notification of Foundation's default center reaches each observer here at most once, and is not sent back to
    // Foundation's center.
    @Test func `an observer of every name gets each notification of Foundation's once`() async {
        await #expect(processExitsWith: .success) {
            let print = Printed()
            let known = Foundation.NSNotification.Name("known")
            NotificationCenter.default.addObserver(forName: known, object: nil, queue: nil) { _ in }
            NotificationCenter.default.addObserver(forName: nil, object: nil, queue: nil) {
                print($0.name.rawValue)
            }
            NotificationCenter.default.addObserver(
                forName: .init("later") as Foundation.NSNotification.Name, object: nil, queue: nil
            ) { _ in }
            for name in ["known", "later", "unknown"] {
                Foundation.NotificationCenter.default.post(name: .init(name), object: nil)
            }
            #expect(print.lines == ["known", "later", "unknown"])
        }
    }

    @Test func `a typed message of Foundation's does not end the program`() async {
        await #expect(processExitsWith: .success) {
            NotificationCenter.default.addObserver(
                forName: UserDefaults.didChangeNotification, object: nil, queue: nil
            ) { _ in }
            Foundation.NotificationCenter.default.post(Saved(), subject: NSObject())
        }
    }
}
