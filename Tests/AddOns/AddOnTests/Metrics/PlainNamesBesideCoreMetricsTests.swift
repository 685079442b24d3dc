import CoreMetrics
import Dispatch
import Foundation
import FoundationRunLoops
import Testing
import XCTest

/// `CoreMetrics`, the part of swift-metrics with its types, exports none of them by name, so every plain name is that of this package.
@Suite struct PlainNamesBesideCoreMetricsTests {
    @Test func `each plain name is of this package, without a line more`() {
        #expect(String(reflecting: RunLoop.self) == "RunLoops.RunLoop")
        #expect(String(reflecting: Timer.self) == "RunLoops.Timer")
        #expect(String(reflecting: Port.self) == "FoundationOverlay.Port")
        #expect(String(reflecting: Notification.self) == "Notifications.Notification")
        #expect(String(reflecting: NSNotification.self) == "Notifications.Notification")
        #expect(String(reflecting: NotificationCenter.self) == "Notifications.NotificationCenter")
        #expect(String(reflecting: NotificationQueue.self) == "Notifications.NotificationQueue")
    }

    @Test func `the timer of swift-metrics is reachable behind the name of its module`() {
        #expect(String(reflecting: CoreMetrics.Timer.self) == "CoreMetrics.Timer")
    }
}
