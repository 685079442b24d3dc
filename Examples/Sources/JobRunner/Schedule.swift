import Foundation

/// Returns the next date, in the time zone of the machine, at which the clock shows a full hour.
///
/// - Parameters:
///   - hour: The hour, from 0 to 23.
///   - time: The time since 1970 after which the date is wanted.
/// - Returns: The date, since 1970.
func nextDate(atHour hour: Int, after time: Duration) -> Duration? {
    let date = Date(timeIntervalSince1970: TimeInterval(time.components.seconds))
    let wanted = DateComponents(hour: hour, minute: 0, second: 0)
    let next = Calendar.current.nextDate(after: date, matching: wanted, matchingPolicy: .nextTime)
    return next.map { .seconds(Int64($0.timeIntervalSince1970)) }
}
