import Dispatch
import Foundation
import FoundationRunLoops
import Metrics
import Testing
import XCTest

// swift-metrics exports its `Timer` as FoundationRunLoops exports that of this package. A file that imports both must choose.
private typealias Timer = RunLoops.Timer

/// In a file that imports swift-metrics, too, the plain names are those of this package.
@Suite struct PlainNamesBesideMetricsTests {
    @Test func `each plain name is of this package`() {
        #expect(String(reflecting: RunLoop.self) == "RunLoops.RunLoop")
        #expect(String(reflecting: Timer.self) == "RunLoops.Timer")
        #expect(String(reflecting: Port.self) == "FoundationOverlay.Port")
        #expect(String(reflecting: Notification.self) == "Notifications.Notification")
        #expect(String(reflecting: NotificationCenter.self) == "Notifications.NotificationCenter")
        #expect(String(reflecting: NotificationQueue.self) == "Notifications.NotificationQueue")
    }

    @Test func `those of Foundation and of swift-metrics are reachable behind their modules' names`() {
        #expect(String(reflecting: Foundation.RunLoop.self) == "Foundation.RunLoop")
        #expect(String(reflecting: Foundation.Timer.self) == "Foundation.Timer")
        #expect(String(reflecting: CoreMetrics.Timer.self) == "CoreMetrics.Timer")
        #expect(String(reflecting: Counter.self) == "CoreMetrics.Counter")
    }
}
