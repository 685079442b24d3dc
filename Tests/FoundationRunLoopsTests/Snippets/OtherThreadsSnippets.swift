import Foundation
import FoundationRunLoops
import TestExpectations
import TestSupport
import Testing

import class RunLoops.RunLoopThread

final class Poller {
    private var timer: Timer?
    private(set) var ticks = 0

    init() {
        timer = Timer.scheduledTimer(withTimeInterval: 0.02, repeats: true) { [weak self] _ in
            self?.ticks += 1
        }
    }

    deinit { timer?.invalidate() }
}

final class Reminder: @unchecked Sendable {
    func remind(after delay: TimeInterval, _ remind: @escaping @Sendable () -> Void) {
        DispatchQueue.global().async {
            let timer = Timer(timeInterval: delay, repeats: false) { _ in remind() }
            RunLoop.main.add(timer, forMode: .common)
        }
    }
}

/// The example of the article "Moving code" for other threads.
@Suite struct OtherThreadsSnippets {
    private struct Carried: @unchecked Sendable {
        let poller: Poller
    }

    @Test func `a poller that another thread releases ends its timer`() throws {
        let thread = try RunLoopThread(name: "pollers")
        for _ in 0..<100 {
            let carried = try thread.runLoop.performAndWait { Carried(poller: Poller()) }
            #expect(carried.poller.ticks >= 0)
        }
        thread.stop()
        thread.join()
    }

    @Test func `a reminder compiles, and its timer is for the main loop`() {
        Reminder().remind(after: 600) {}
    }
}
