public import Foundation
public import RunLoops

public import class RunLoops.Timer

extension Timer {
    /// The time between two fires in seconds; zero for a timer that does not repeat.
    public var timeInterval: TimeInterval { intervalDuration.interval }

    /// The longest time, in seconds, by which the timer is allowed to fire after its date; initially zero.
    ///
    /// - Precondition: Not negative.
    public var tolerance: TimeInterval {
        get { toleranceDuration.interval }
        set { toleranceDuration = Duration(newValue, for: "Timer.tolerance") }
    }

    /// Makes a timer that first fires one interval from now.
    ///
    /// - Parameters:
    ///   - interval: The seconds to the first fire, and between fires. With zero or less, the timer fires immediately; a timer that
    ///     repeats then fires every 100 µs.
    ///   - repeats: True if the timer continues after the first fire.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: Called on the loop's thread with the timer.
    public convenience init(
        timeInterval interval: TimeInterval, repeats: Bool, fileID: StaticString = #fileID,
        line: Int = #line, block: @escaping (Timer) -> Void
    ) {
        self.init(
            timeInterval: Duration(interval, for: "Timer.init"), repeats: repeats, fileID: fileID, line: line,
            block: block)
    }

    /// Makes a timer and adds it to the current loop in the default mode.
    ///
    /// - Parameters:
    ///   - interval: The seconds to the first fire, and between fires.
    ///   - repeats: True if the timer continues after the first fire.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: Called on this thread with the timer.
    /// - Returns: The timer.
    ///
    /// > Thread safety: any thread; the loop is the calling thread's.
    @available(
        *, noasync,
        message:
            "the thread may change at any await; add a Timer to the loop you want: RunLoop.main.perform { RunLoop.main.add(Timer(…), forMode: .common) }"
    )
    @discardableResult
    public static func scheduledTimer(
        withTimeInterval interval: TimeInterval, repeats: Bool, fileID: StaticString = #fileID,
        line: Int = #line, block: @escaping (Timer) -> Void
    ) -> Timer {
        scheduledTimer(
            withTimeInterval: Duration(interval, for: "Timer.scheduledTimer"), repeats: repeats,
            fileID: fileID,
            line: line, block: block)
    }
}
