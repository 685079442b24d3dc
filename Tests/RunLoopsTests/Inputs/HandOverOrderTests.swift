import TestSupport
import Testing

@testable import RunLoops

/// What a thread hands over to a loop takes effect before the blocks that it sends afterwards.
@Suite struct HandOverOrderTests {
    @Test func `a block that is sent after an end or a removal finds it done`() throws {
        let thread = try RunLoopThread(name: "order")
        let loop = thread.runLoop
        defer {
            thread.stop()
            thread.join()
        }
        for round in 0..<300 {
            let made = try loop.performAndWait { Carried(in: RunLoop.current) }
            // While the loop runs a block, the hand-over and the next block come with the same mail.
            let (isBusy, mayEnd) = (Gate(), Gate())
            loop.perform {
                isBusy.open()
                _ = mayEnd.wait()
            }
            #expect(isBusy.wait())
            if round.isMultiple(of: 2) {
                made.timer.invalidate()
            } else {
                loop.remove(made.timer, forMode: .common)
            }
            let isOut = Log<Bool>()
            loop.perform { isOut.add(made.timer.membership.loop == nil) }
            mayEnd.open()
            try loop.performAndWait {}
            #expect(isOut.entries == [true])
        }
    }

    /// `@unchecked Sendable`: the other thread only ends or removes the timer.
    private struct Carried: @unchecked Sendable {
        let timer: Timer

        init(in loop: RunLoop) {
            timer = Timer(fireAt: .distantFuture, interval: .zero, repeats: false) { _ in }
            loop.add(timer, forMode: .common)
        }
    }
}
