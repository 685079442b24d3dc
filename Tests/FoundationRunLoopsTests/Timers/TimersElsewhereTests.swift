import Foundation
import FoundationRunLoops
import TestExpectations
import TestSupport
import Testing

import class RunLoops.RunLoopThread

/// Timers that another thread than the loop's adds, changes and fires.
@Suite struct TimersElsewhereTests {
    /// Carries a timer between the threads of a test.
    private struct Carried: @unchecked Sendable {
        let timer: Timer
    }

    /// Starts a thread whose loop runs, and ends it after the body.
    private func withLoop(_ body: (RunLoop) throws -> Void) throws {
        let thread = try RunLoopThread(name: "timers")
        defer {
            thread.stop()
            thread.join()
        }
        try body(thread.runLoop)
    }

    /// Makes a repeating timer that never comes by itself; its block counts, and remembers if it was called on the loop's thread.
    private func makeTimer(_ loop: RunLoop, _ fires: Log<Bool>) -> Timer {
        Timer(fire: .distantFuture, interval: 1000, repeats: true) { _ in fires.add(loop.isCurrent) }
    }

    @Test func `a timer that another thread adds fires on the loop's thread`() throws {
        try withLoop { loop in
            let fires = Log<Bool>()
            let timer = Timer(timeInterval: 0, repeats: false) { _ in fires.add(loop.isCurrent) }
            loop.add(timer, forMode: .common)
            waitUntil("the timer has fired") { fires.entries.count == 1 }
            #expect(fires.entries == [true])
            waitUntil("the timer has ended") { !timer.isValid }
        }
    }

    // Guarantees: A date or a tolerance that a thread has set is what the thread reads afterwards, even if the loop has not taken
    // it over yet.
    @Test func `a date that another thread sets is read at once, and the loop keeps to it`() throws {
        try withLoop { loop in
            let fires = Log<Bool>()
            let timer = makeTimer(loop, fires)
            loop.add(timer, forMode: .common)
            let date = Date(timeIntervalSinceNow: 600)
            timer.fireDate = date
            #expect(timer.fireDate == date)
            try loop.performAndWait {}
            #expect(timer.fireDate == date)
            timer.fireDate = Date()
            waitUntil("the timer has fired") { fires.entries.count == 1 }
            #expect(fires.entries == [true])
        }
    }

    // Guarantees: What one thread does to a timer of another thread's loop takes effect on the loop's thread, in the order of the
    // calls.
    // Guarantees: A date or a tolerance that a thread has set is what the thread reads afterwards, even if the loop has not taken
    // it over yet.
    @Test func `what one thread does to a timer takes effect in order`() throws {
        try withLoop { loop in
            let fires = Log<Bool>()
            let blocker = Gate()
            let blocked = Gate()
            loop.perform {
                blocked.open()
                _ = blocker.wait()
            }
            #expect(blocked.wait())
            let (early, late) = (Date(timeIntervalSinceNow: 500), Date(timeIntervalSinceNow: 900))
            let timer = makeTimer(loop, fires)
            for _ in 0..<100 {
                timer.fireDate = early
                loop.add(timer, forMode: .default)
                timer.tolerance = 7
                timer.fireDate = late
                timer.tolerance = 3
                loop.remove(timer, forMode: .default)
                loop.add(timer, forMode: .common)
                #expect(timer.fireDate == late)
                #expect(timer.tolerance == 3)
            }
            blocker.open()
            let carried = Carried(timer: timer)
            let seen = try loop.performAndWait { (carried.timer.fireDate, carried.timer.tolerance) }
            #expect(seen == (late, 3))
            timer.fireDate = Date()
            waitUntil("the timer is in the loop") { fires.entries.count == 1 }
            timer.invalidate()
            timer.fireDate = Date()
            try loop.performAndWait {}
            #expect(fires.entries == [true])
        }
    }

    @Test func `a timer that is removed after it was added is in no mode`() throws {
        try withLoop { loop in
            let fires = Log<Bool>()
            for _ in 0..<200 {
                let timer = Timer(fire: .distantFuture, interval: 1000, repeats: true) { _ in fires.add(true)
                }
                loop.add(timer, forMode: .common)
                loop.remove(timer, forMode: .common)
                timer.fireDate = Date()
            }
            try loop.performAndWait {}
            try loop.performAndWait {}
            #expect(fires.entries == [])
        }
    }

    @Test func `a timer that another thread fires is called once for each time, on the loop's thread`() throws
    {
        try withLoop { loop in
            let fires = Log<Bool>()
            let timer = makeTimer(loop, fires)
            loop.add(timer, forMode: .common)
            for _ in 0..<50 { timer.fire() }
            waitUntil("the timer has fired") { fires.entries.count == 50 }
            #expect(fires.entries.allSatisfy { $0 })
            #expect(timer.isValid)
            let once = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in
                fires.add(loop.isCurrent)
            }
            loop.add(once, forMode: .common)
            once.fire()
            once.fire()
            waitUntil("the timer has ended") { !once.isValid }
            try loop.performAndWait {}
            #expect(fires.entries.count == 51)
        }
    }

    @Test func `in no loop, a timer fires and changes on the calling thread`() throws {
        var fires = 0
        let timer = Timer(fire: .distantFuture, interval: 1000, repeats: true) { _ in fires += 1 }
        timer.fire()
        timer.tolerance = 2
        #expect((fires, timer.tolerance) == (1, 2))
    }

    @Test func `no fire begins after an end elsewhere, and changes of a timer that has ended are nothing`()
        throws
    {
        try withLoop { loop in
            let fires = Log<Bool>()
            let timer = makeTimer(loop, fires)
            loop.add(timer, forMode: .common)
            let (held, holds) = (Gate(), Gate())
            loop.perform {
                holds.open()
                _ = held.wait()
            }
            #expect(holds.wait())
            timer.fire()
            timer.invalidate()
            timer.fireDate = Date()
            timer.fire()
            held.open()
            try loop.performAndWait {}
            try loop.performAndWait {}
            #expect(fires.entries == [])
        }
    }

    @Test func `after the end of the loop nothing happens`() throws {
        let thread = try RunLoopThread(name: "gone")
        let fires = Log<Bool>()
        let timer = makeTimer(thread.runLoop, fires)
        thread.runLoop.add(timer, forMode: .common)
        try thread.runLoop.performAndWait {}
        thread.stop()
        thread.join()
        #expect(!timer.isValid)
        timer.fireDate = Date()
        timer.fire()
        let other = makeTimer(thread.runLoop, fires)
        thread.runLoop.add(other, forMode: .common)
        other.fireDate = Date()
        other.invalidate()
        #expect(fires.entries == [])
    }

    @Test func `beside the end of the loop, additions and changes neither trap nor leak`() throws {
        let releases = Log<Bool>()
        for _ in 0..<50 {
            let thread = try RunLoopThread(name: "ending")
            let adding = try BareThread { [loop = thread.runLoop] in
                for _ in 0..<20 {
                    let parting = Parting { releases.add(true) }
                    let timer = Timer(timeInterval: 1000, repeats: true) { _ in parting.hold() }
                    loop.add(timer, forMode: .common)
                    timer.fireDate = Date()
                    timer.fire()
                    timer.tolerance = 1
                    timer.invalidate()
                }
            }
            thread.stop()
            adding.join()
            thread.join()
        }
        waitUntil("every handler is released") { releases.entries.count == 1000 }
    }

    @Test func `a third thread moves a timer when the first loop has taken the removal`() throws {
        try withLoop { first in
            try withLoop { second in
                let fires = Log<Bool>()
                let timer = makeTimer(second, fires)
                for _ in 0..<100 {
                    first.add(timer, forMode: .common)
                    first.remove(timer, forMode: .common)
                    for loop in [first, second, first, second] { try loop.performAndWait {} }
                    second.add(timer, forMode: .common)
                    second.remove(timer, forMode: .common)
                    for loop in [first, second, first, second] { try loop.performAndWait {} }
                }
                second.add(timer, forMode: .common)
                try first.performAndWait {}
                try second.performAndWait {}
                timer.fireDate = Date()
                waitUntil("the timer has fired") { fires.entries.count == 1 }
                #expect(fires.entries == [true])
            }
        }
    }

    @Test func `threads that change a timer of a running loop lose no change`() throws {
        try withLoop { loop in
            let fires = Log<Bool>()
            let timer = makeTimer(loop, fires)
            loop.add(timer, forMode: .common)
            let carried = Carried(timer: timer)
            try Threads(4) { index in
                for step in 0..<200 {
                    carried.timer.tolerance = Double(step)
                    carried.timer.fireDate = Date(timeIntervalSinceNow: 500 + Double(index))
                    _ = carried.timer.fireDate
                }
            }.join()
            try loop.performAndWait {}
            #expect(timer.tolerance == 199)
            #expect(timer.fireDate.timeIntervalSinceNow > 400)
            #expect(fires.entries == [])
        }
    }

    @Test func `the mode of a loop is read on any thread`() throws {
        let mode = RunLoop.Mode("TimersElsewhereTests")
        try withLoop { loop in
            let (inside, goes) = (Gate(), Gate())
            waitUntil("the loop runs") { loop.currentMode == .default }
            loop.perform {
                RunLoop.current.add(
                    Timer(timeInterval: 0, repeats: false) { _ in
                        inside.open()
                        _ = goes.wait()
                    }, forMode: mode)
                RunLoop.current.run(mode: mode, before: .distantFuture)
            }
            #expect(inside.wait())
            #expect(loop.currentMode == mode)
            goes.open()
            waitUntil("the inner run is over") { loop.currentMode == .default }
            #expect(loop.limitDate(forMode: .default) == nil)
        }
    }
}
