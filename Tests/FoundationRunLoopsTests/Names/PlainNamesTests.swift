import Dispatch
import Foundation
import FoundationRunLoops
import Testing
import XCTest

/// In a file that imports Foundation, XCTest, Dispatch and FoundationRunLoops, the plain names are those of this package.
@Suite struct PlainNamesTests {
    // Guarantees: In a file that imports Foundation, XCTest, Dispatch and this module, the plain names are those of this package,
    // and Foundation's types are available with the module in front of the name.
    @Test func `each plain name is of this package`() {
        #expect(String(reflecting: RunLoop.self) == "RunLoops.RunLoop")
        #expect(String(reflecting: Timer.self) == "RunLoops.Timer")
        #expect(String(reflecting: Port.self) == "FoundationOverlay.Port")
        #expect(String(reflecting: Notification.self) == "Notifications.Notification")
        #expect(String(reflecting: NSNotification.self) == "Notifications.Notification")
        #expect(String(reflecting: NSNotification.Name.self) == "Notifications.Notification.Name")
        #expect(String(reflecting: NotificationCenter.self) == "Notifications.NotificationCenter")
        #expect(String(reflecting: NotificationQueue.self) == "Notifications.NotificationQueue")
    }

    // Guarantees: In a file that imports Foundation, XCTest, Dispatch and this module, the plain names are those of this package,
    // and Foundation's types are available with the module in front of the name.
    @Test func `the names of Foundation are reachable behind the module's name`() {
        #expect(String(reflecting: Foundation.RunLoop.self) == "Foundation.RunLoop")
        #expect(String(reflecting: Foundation.Timer.self) == "Foundation.Timer")
        #expect(String(reflecting: Foundation.Port.self) == "Foundation.Port")
        #expect(String(reflecting: Foundation.NotificationCenter.self).hasSuffix("NotificationCenter"))
        #expect(Foundation.RunLoop.main === Foundation.RunLoop.main)
    }

    @Test func `names of the other modules keep their meaning`() {
        #expect(
            String(reflecting: DispatchQueue.self) == "Dispatch.OS_dispatch_queue"
                || DispatchQueue.main.label.contains("main"))
        #expect(String(reflecting: XCTestCase.self) == "XCTest.XCTestCase")
        #expect(String(reflecting: Thread.self) == "Foundation.Thread")
    }

    @Test func `a port of values is reachable behind its module's name`() {
        #expect(String(reflecting: RunLoops.Port<Int>.self) == "RunLoops.Port<Swift.Int>")
    }
}
