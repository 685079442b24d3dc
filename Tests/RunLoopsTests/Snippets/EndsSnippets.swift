import RunLoops
import TestSupport
import Testing

/// The code of the article "Ends".
@Suite struct EndsSnippets {
    @Test func `an owner that is destroyed on another thread ends its timer`() throws {
        try onLoopThread { loop in
            final class Poller {
                private var timer: Timer?
                private var polls = 0

                init() {
                    timer = Timer.scheduledTimer(withTimeInterval: .seconds(1), repeats: true) {
                        [weak self] _ in
                        self?.polls += 1
                    }
                }

                deinit { timer?.invalidate() }
            }
            func startPolling() {
                let poller = Poller()
                Task.detached { withExtendedLifetime(poller) {} }
            }
            startPolling()

            #expect(loop.run(in: .default, until: .hang) == .finished)
        }
    }
}
