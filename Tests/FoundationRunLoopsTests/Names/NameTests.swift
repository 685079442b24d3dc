import Foundation
import FoundationRunLoops
import Testing

/// The names of Foundation's notifications can be used beside those of this package.
@Suite struct NameTests {
    private let defaults = UserDefaults.didChangeNotification

    @Test func `names compare with Foundation's as strings`() {
        let ours = Notification.Name(defaults)
        #expect(ours == defaults)
        #expect(!(ours != defaults))
        #expect(Notification.Name("other") != defaults)
        #expect(defaults == ours)
        #expect(!(defaults != ours))
        #expect(Foundation.NSNotification.Name(ours) == defaults)
        #expect(Notification.Name("x") == .init("x"))
    }

    @Test func `a switch matches names of both kinds`() {
        let kind = { (name: Notification.Name) -> String in
            switch name {
            case UserDefaults.didChangeNotification: "defaults"
            case Notification.Name("mine"): "mine"
            default: "other"
            }
        }
        #expect(kind(Notification(name: defaults).name) == "defaults")
        #expect(kind(.init("mine")) == "mine")
        #expect(kind(.init("else")) == "other")
    }
}
