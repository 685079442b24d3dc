import Foundation
import FoundationRunLoops
import TestExpectations
import TestSupport
import Testing

/// Timers take dates and intervals of Foundation, and return them.
@Suite struct DatedTimerTests {
    // Guarantees: A timer gives back the very date that was set.
    @Test(arguments: [Double.infinity, 1e6, 60])
    func `the very date that was set comes back`(seconds: Double) {
        let date = seconds == .infinity ? Date.distantFuture : Date(timeIntervalSinceNow: seconds)
        let timer = Timer(timeInterval: 100, repeats: true) { _ in }
        timer.fireDate = date
        #expect(timer.fireDate == date)
        #expect(Timer(fire: date, interval: 7, repeats: true) { _ in }.fireDate == date)
        #expect(Timer(fire: date, interval: 0, repeats: false) { _ in }.fireDate == date)
    }

    @Test func `a date that was not set is the same each time`() {
        let timer = Timer(timeInterval: 100, repeats: true) { _ in }
        #expect(timer.fireDate == timer.fireDate)
        #expect(abs(timer.fireDate.timeIntervalSinceNow - 100) < 50)
    }

    @Test func `the date of a later fire is counted from the date that was set`() throws {
        try onLoopThread { loop in
            let date = Date(timeIntervalSinceNow: -0.001)
            var fires = 0
            let timer = Timer(fire: date, interval: 1000, repeats: true) { _ in
                fires += 1
                loop.stop()
            }
            loop.add(timer, forMode: .default)
            loop.run(until: Date(timeIntervalSinceNow: 60))
            #expect(fires == 1)
            #expect(timer.fireDate == date.addingTimeInterval(1000))
        }
    }

    @Test(arguments: [
        Date.distantPast, Date(timeIntervalSinceReferenceDate: -9e9), Date(timeIntervalSince1970: -1e12),
    ])
    func `after a fire, the date of a timer that was set to the far past is near`(past: Date) throws {
        try onLoopThread { loop in
            var fires = 0
            let made = Timer(fire: past, interval: 1000, repeats: true) { _ in fires += 1 }
            let resumed = Timer(timeInterval: 1000, repeats: true) { _ in fires += 1 }
            resumed.fireDate = .distantFuture
            resumed.fireDate = past
            for timer in [made, resumed] {
                #expect(timer.fireDate == past)
                loop.add(timer, forMode: .default)
            }
            loop.run(until: Date(timeIntervalSinceNow: -1))
            #expect(fires == 2)
            for timer in [made, resumed] {
                #expect((0...1000).contains(timer.fireDate.timeIntervalSinceNow))
                #expect(timer.fireDate == timer.fireDate)
            }
        }
    }

    @Test(arguments: [Double.infinity, .greatestFiniteMagnitude, 1e10])
    func `the date of a timer whose interval never ends is the distant future`(interval: TimeInterval) {
        let timer = Timer(timeInterval: interval, repeats: true) { _ in }
        #expect(timer.fireDate == Date.distantFuture)
        #expect(timer.fireDate == Date.distantFuture)
    }

    @Test func `a date that has passed comes back until the fire, and the next one is on its grid`() throws {
        try onLoopThread { loop in
            let date = Date(timeIntervalSinceNow: -5500)
            let timer = Timer(fire: date, interval: 1000, repeats: true) { _ in }
            #expect(timer.fireDate == date)
            timer.fireDate = date.addingTimeInterval(-1)
            #expect(timer.fireDate == date.addingTimeInterval(-1))
            loop.add(timer, forMode: .default)
            loop.run(until: Date(timeIntervalSinceNow: -1))
            #expect(timer.fireDate == date.addingTimeInterval(5999))
        }
    }

    @Test func `a date of a time that no loop reaches comes back, and the next one is right`() {
        let far = Date(timeIntervalSinceReferenceDate: 1e11)
        let timer = Timer(timeInterval: 1, repeats: true) { _ in }
        timer.fireDate = far
        #expect(timer.fireDate == far)
        let near = Date(timeIntervalSinceNow: 50)
        timer.fireDate = near
        #expect(timer.fireDate == near)
    }

    @Test func `the date of an invalid timer stays`() {
        let timer = Timer(timeInterval: 100, repeats: true) { _ in }
        let date = timer.fireDate
        timer.invalidate()
        timer.fireDate = .distantPast
        #expect(timer.fireDate == date)
    }

    @Test(arguments: [0.1, 0.001, 1.0 / 3, 86_400, 0.000_000_001])
    func `an interval is whole nanoseconds`(interval: TimeInterval) {
        let timer = Timer(timeInterval: interval, repeats: true) { _ in }
        #expect(timer.timeInterval == (interval * 1e9).rounded() / 1e9)
        timer.tolerance = interval / 4
        #expect(abs(timer.tolerance - interval / 4) <= 1e-9)
    }

    @Test func `an interval that is longer than a loop can wait never ends`() {
        let timer = Timer(timeInterval: .infinity, repeats: true) { _ in }
        #expect(timer.timeInterval > 9e9)
        #expect(timer.isValid)
    }

    @Test func `an interval that is not a number ends the program`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Timer(timeInterval: .nan, repeats: false) { _ in }
        }
        #expect(
            result?.message.contains("Timer.init: the interval is not a number; give it in seconds") == true)
    }

    @Test func `a date that is not a number ends the program`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Timer(timeInterval: 1, repeats: false) { _ in }.fireDate = Date(timeIntervalSinceNow: .nan)
        }
        #expect(result?.message.contains("Timer.fireDate: the date is not a number") == true)
    }

    @Test func `references by labels make timers`() throws {
        let make = Timer.init(timeInterval:repeats:block:)
        let makeAt = Timer.init(fire:interval:repeats:block:)
        #expect(make(2, true, { _ in }).timeInterval == 2)
        #expect(makeAt(.distantFuture, 3, true, { _ in }).fireDate == Date.distantFuture)
        try onLoopThread { _ in
            let schedule = Timer.scheduledTimer(withTimeInterval:repeats:block:)
            #expect(schedule(4, true, { _ in }).isValid)
        }
    }
}
