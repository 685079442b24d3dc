import Foundation
import RunLoops
import TestExpectations
import TestSupport
import Testing

import class RunLoops.RunLoop

/// The code of the article "Dates of the wall clock".
@Suite struct WallClockSnippets {
    /// Something to do each night.
    private final class Logs {
        var count = 0
        func rotate() { count += 1 }
    }

    private static func berlin() throws -> Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "Europe/Berlin"))
        return calendar
    }

    @Test func `each night at three o'clock, also when summer time begins and ends`() throws {
        try onLoopThread { _ in
            let calendar = try Self.berlin()
            let logs = Logs()

            func nextNight(after time: Duration) -> Duration? {
                let date = Date(timeIntervalSince1970: TimeInterval(time.components.seconds))
                let threeOClock = DateComponents(hour: 3, minute: 0, second: 0)
                let next = calendar.nextDate(after: date, matching: threeOClock, matchingPolicy: .nextTime)
                return next.map { .seconds(Int64($0.timeIntervalSince1970)) }
            }

            let nightly = WallClockTimer(nextDate: nextNight) { _ in
                logs.rotate()
            }
            try RunLoop.current.add(nightly, forMode: .common)

            let date = try #require(nightly.fireDate)
            #expect(date > RunLoop.timeSince1970 && date < RunLoop.timeSince1970 + .seconds(25 * 3_600))
            nightly.invalidate()
            // 2027-03-27 12:00 UTC and 2027-10-30 12:00 UTC: the next days have 23 and 25 hours.
            for (noon, hours) in [(1_806_148_800, [13, 24]), (1_824_897_600, [14, 24])] {
                let first = try #require(nextNight(after: .seconds(noon)))
                let second = try #require(nextNight(after: first + .milliseconds(1)))
                #expect([first - .seconds(noon), second - first] == hours.map { .seconds($0 * 3_600) })
            }
            #expect(logs.count == 0)
        }
    }
}
