import RunLoops
import TestSupport
import Testing

/// Timers that are due when a handler sets their date fire in the next pass, which does not sleep.
@Suite struct TimerDueNowTests {
    /// Runs the loop until it is stopped, and expects that it neither sleeps nor calls the kernel.
    private func expectAwake(_ loop: RunLoop) {
        var sleeps = 0
        loop.add(RunLoop.Observer(activities: .beforeWaiting) { _, _ in sleeps += 1 }, forMode: .default)
        let before = loop.statistics
        #expect(loop.run(in: .default, until: .hang) == .stopped)
        #expect(sleeps == 0)
        #expect(loop.statistics.wakeUps == before.wakeUps)
        #expect(loop.statistics.kernelCalls == before.kernelCalls)
    }

    @Test func `a date of now that a timer's own handler sets fires in the next pass`() throws {
        try onLoopThread { loop in
            var passes: [Int] = []
            let timer = Timer(fireAt: .now, interval: .zero, repeats: false) { timer in
                passes.append(loop.statistics.passes)
                if passes.count == 5 { loop.stop() } else { timer.fireDate = .now }
            }
            loop.add(timer, forMode: .default)
            expectAwake(loop)
            #expect(passes == Array(passes[0]..<passes[0] + 5))
        }
    }

    @Test func `a date of now that another handler sets fires in the next pass`() throws {
        try onLoopThread { loop in
            let parked = Timer(fireAt: .distantFuture, interval: .zero, repeats: false) { _ in loop.stop() }
            loop.add(parked, forMode: .default)
            // The port is served at the end of a pass, after the loop has read the clock.
            let port = Port<Void>()
            loop.add(port, forMode: .default) { parked.fireDate = .now }
            try port.send()
            expectAwake(loop)
        }
    }

    @Test func `a new timer that is due at once fires in the next pass`() throws {
        try onLoopThread { loop in
            let first = Timer(fireAt: .now, interval: .zero, repeats: false) { _ in
                loop.add(
                    Timer(timeInterval: .zero, repeats: false) { _ in loop.stop() }, forMode: .default)
            }
            loop.add(first, forMode: .default)
            expectAwake(loop)
        }
    }

    @Test func `a date of now that an observer sets before the sleep ends the sleep before it begins`() throws
    {
        try onLoopThread { loop in
            loop.waitPolicy = .park
            let timer = Timer(fireAt: .distantFuture, interval: .zero, repeats: false) { _ in loop.stop() }
            loop.add(timer, forMode: .default)
            loop.add(
                RunLoop.Observer(activities: .beforeWaiting) { _, _ in timer.fireDate = .now },
                forMode: .default)
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            #expect(loop.statistics.wakeUps == 0)
        }
    }
}
