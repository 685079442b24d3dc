public import Foundation
public import RunLoops

public import class RunLoops.Timer

/// Overloads of the timer's members that do not have the parameters `fileID` and `line`.
///
/// These overloads are for code that refers to a member without calling it, as in `let make =
/// Timer.scheduledTimer(withTimeInterval:repeats:block:)`. Calls use the other overloads, which record the file and line of the
/// call.
extension Timer {
    /// Makes a timer that first fires one interval from now.
    ///
    /// - Parameters:
    ///   - interval: The seconds to the first fire, and between fires.
    ///   - repeats: True if the timer continues after the first fire.
    ///   - block: Called on the loop's thread with the timer.
    @_disfavoredOverload
    public convenience init(
        timeInterval interval: TimeInterval, repeats: Bool, block: @escaping (Timer) -> Void
    ) {
        self.init(timeInterval: interval, repeats: repeats, fileID: #fileID, line: #line, block: block)
    }

    /// Makes a timer that first fires at a date.
    ///
    /// - Parameters:
    ///   - date: The date of the first fire.
    ///   - interval: The seconds between fires, if it repeats.
    ///   - repeats: True if the timer continues after the first fire.
    ///   - block: Called on the loop's thread with the timer.
    @_disfavoredOverload
    public convenience init(
        fire date: Date, interval: TimeInterval, repeats: Bool, block: @escaping (Timer) -> Void
    ) {
        self.init(
            fire: date, interval: interval, repeats: repeats, fileID: #fileID, line: #line, block: block)
    }

    /// Makes a timer and adds it to the current loop in the default mode.
    ///
    /// - Parameters:
    ///   - interval: The seconds to the first fire, and between fires.
    ///   - repeats: True if the timer continues after the first fire.
    ///   - block: Called on this thread with the timer.
    /// - Returns: The timer.
    ///
    /// > Thread safety: any thread; the loop is the calling thread's.
    @available(*, noasync, message: "the thread may change at any await; add a Timer to the loop you want")
    @_disfavoredOverload @discardableResult
    public static func scheduledTimer(
        withTimeInterval interval: TimeInterval, repeats: Bool, block: @escaping (Timer) -> Void
    ) -> Timer {
        scheduledTimer(
            withTimeInterval: interval, repeats: repeats, fileID: #fileID, line: #line, block: block)
    }
}
