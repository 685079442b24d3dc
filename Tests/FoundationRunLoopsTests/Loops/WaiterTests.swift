import FoundationRunLoops
import TestSupport
import Testing
import XCTest

/// XCTest's waits run Foundation's loop.
@Suite struct WaiterTests {
    @Test func `on a thread with a bridge, XCTest's wait serves this package's timers and blocks`() throws {
        try onLoopThread { loop in
            let bridge = try RunLoopBridge()
            let performed = XCTestExpectation(description: "a block was performed")
            let fired = XCTestExpectation(description: "a timer has fired")
            Timer.scheduledTimer(withTimeInterval: 0.01, repeats: false) { _ in fired.fulfill() }
            loop.perform { performed.fulfill() }
            #expect(XCTWaiter.wait(for: [performed, fired], timeout: 60) == .completed)
            bridge.invalidate()
        }
    }
}
