import RunLoops
import TestSupport
import Testing

/// The life of a timer, until it is invalid.
@Suite struct TimerLifeTests {
    private final class Witness: Sendable {}

    @Test func `a timer that does not repeat is valid until its handler has returned`() throws {
        try onLoopThread { loop in
            var inside = false
            let timer = Timer(timeInterval: .zero, repeats: false) { inside = $0.isValid }
            #expect(timer.timeInterval == .zero)
            loop.add(timer, forMode: .default)
            loop.run()
            #expect(inside)
            #expect(!timer.isValid)
        }
    }

    @Test func `invalidating ends the repetition, also in the handler`() throws {
        try onLoopThread { loop in
            var fires = 0
            let timer = Timer(timeInterval: .zero, repeats: true) { timer in
                fires += 1
                if fires == 3 {
                    timer.invalidate()
                    timer.invalidate()
                }
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(in: .default) == .finished)
            #expect(fires == 3)
            #expect(!timer.isValid)
        }
    }

    @Test func `an invalid timer has let go of its handler`() throws {
        try onLoopThread { loop in
            weak var held: Witness?
            let timer: Timer
            do {
                let witness = Witness()
                held = witness
                timer = Timer(timeInterval: .seconds(1), repeats: true) { _ in
                    withExtendedLifetime(witness) {}
                }
            }
            loop.add(timer, forMode: .default)
            #expect(held != nil)
            timer.invalidate()
            #expect(held == nil)
        }
    }

    @Test func `a handler that invalidates its timer keeps what it holds until it returns`() throws {
        try onLoopThread { loop in
            weak var held: Witness?
            do {
                let witness = Witness()
                held = witness
                let timer = Timer(timeInterval: .zero, repeats: true) { timer in
                    timer.invalidate()
                    #expect(held != nil)
                    withExtendedLifetime(witness) {}
                }
                loop.add(timer, forMode: .default)
            }
            loop.run()
            #expect(held == nil)
        }
    }

    @Test func `an invalid timer cannot be added`() throws {
        try onLoopThread { loop in
            let timer = Timer(timeInterval: .zero, repeats: true) { _ in Issue.record("it must not fire") }
            timer.invalidate()
            loop.add(timer, forMode: .default)
            #expect(loop.run(in: .default) == .finished)
        }
    }

    @Test func `a timer that is added twice, or to two modes, fires once at a time`() throws {
        try onLoopThread { loop in
            let other = RunLoop.Mode("other")
            var fires = 0
            let timer = Timer(fireAt: .now, interval: .seconds(100), repeats: true) { _ in fires += 1 }
            for mode in [RunLoop.Mode.default, .default, other, .common] { loop.add(timer, forMode: mode) }
            loop.run(until: .distantPast)
            loop.run(in: other, until: .distantPast)
            #expect(fires == 1)
            loop.remove(timer, forMode: .default)
            #expect(loop.run(in: .default) == .finished)
            timer.fireDate = .now
            loop.run(in: other, until: .distantPast)
            #expect(fires == 2)
        }
    }

    @Test func `a timer that left its loop may join another one`() throws {
        // Safe: the second thread starts after the first one has finished with the timer.
        nonisolated(unsafe) let timer = Timer(timeInterval: .zero, repeats: false) { _ in }
        try onLoopThread { loop in
            loop.add(unsafe timer, forMode: .default)
            loop.remove(unsafe timer, forMode: .default)
        }
        try onLoopThread { loop in
            loop.add(unsafe timer, forMode: .default)
            loop.run()
        }
        let isValid = unsafe timer.isValid
        #expect(!isValid)
    }

    @Test func `a handler may remove its timer and add it again`() throws {
        try onLoopThread { loop in
            var fires = 0
            let timer = Timer(timeInterval: .zero, repeats: true) { timer in
                fires += 1
                loop.remove(timer, forMode: .default)
                if fires < 3 { loop.add(timer, forMode: .default) }
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(in: .default) == .finished)
            #expect(fires == 3)
            #expect(timer.isValid)
        }
    }
}
