public import Foundation
public import RunLoops

public import class RunLoops.Timer

extension Timer {
    /// The time between two fires in seconds; zero for a timer that does not repeat.
    public var timeInterval: TimeInterval { intervalDuration.interval }

    /// The longest time, in seconds, by which the timer is allowed to fire after its date; initially zero.
    ///
    /// On another thread than that of the timer's loop, the loop takes the tolerance in its next pass, and the property returns the
    /// tolerance at once.
    ///
    /// - Precondition: Not negative.
    ///
    /// > Thread safety: any thread.
    public var tolerance: TimeInterval {
        get { PublishedTimer.of(self).tolerance(of: self) }
        set {
            let tolerance = toleranceDuration(from: Duration(newValue, for: "Timer.tolerance"))
            if !isValid { return }
            let published = PublishedTimer.of(self)
            published.announce(tolerance: tolerance.interval)
            change { [self] in
                toleranceDuration = tolerance
                published.takeTolerance()
            }
        }
    }

    /// Calls the handler.
    ///
    /// On the thread of the timer's loop, and if the timer is in no loop, the handler has been called when this returns. On another
    /// thread, the loop calls it as soon as it runs in a mode of the timer.
    ///
    /// A repeating timer keeps its dates. A timer that does not repeat becomes invalid, unless its handler sets a new ``fireDate``.
    /// The call does nothing on an invalid timer, and in the timer's own handler.
    ///
    /// > Thread safety: any thread.
    public func fire() { fireAnywhere() }

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
