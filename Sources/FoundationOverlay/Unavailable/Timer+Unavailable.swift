public import Foundation
public import RunLoops

public import class RunLoops.RunLoop
public import class RunLoops.Timer

/// Members of Foundation's timer that this package refuses; the compiler's message for each says what to write instead.
extension Timer {
    /// Unavailable: Swift on Linux has no selectors.
    ///
    /// - Parameters:
    ///   - timeInterval: The interval.
    ///   - target: The target.
    ///   - selector: A selector.
    ///   - userInfo: Anything.
    ///   - repeats: True if the timer continues after the first fire.
    /// - Returns: Nothing.
    @available(
        *, unavailable,
        message:
            "use scheduledTimer(withTimeInterval:repeats:block:), whose closure captures the target weakly"
    )
    @discardableResult
    public static func scheduledTimer(
        timeInterval: TimeInterval, target: Any, selector: Any, userInfo: Any?, repeats: Bool
    ) -> Timer { misuse("Timer.scheduledTimer: unavailable") }

    /// Unavailable: Swift on Linux has no selectors.
    ///
    /// - Parameters:
    ///   - timeInterval: The interval.
    ///   - target: The target.
    ///   - selector: A selector.
    ///   - userInfo: Anything.
    ///   - repeats: True if the timer continues after the first fire.
    @available(
        *, unavailable,
        message: "use Timer(timeInterval:repeats:block:), whose closure captures the target weakly"
    )
    public convenience init(
        timeInterval: TimeInterval, target: Any, selector: Any, userInfo: Any?, repeats: Bool
    ) { misuse("Timer.init: unavailable") }

    /// Unavailable: Swift on Linux has no selectors.
    ///
    /// - Parameters:
    ///   - date: The date of the first fire.
    ///   - interval: The interval.
    ///   - target: The target.
    ///   - selector: A selector.
    ///   - userInfo: Anything.
    ///   - repeats: True if the timer continues after the first fire.
    @available(
        *, unavailable,
        message: "use Timer(fire:interval:repeats:block:), whose closure captures the target weakly"
    )
    public convenience init(
        fireAt date: Date, interval: TimeInterval, target: Any, selector: Any, userInfo: Any?, repeats: Bool
    ) { misuse("Timer.init: unavailable") }

    /// Unavailable: a timer's closure captures the values that it needs.
    @available(*, unavailable, message: "capture in the timer's closure what it needs")
    public var userInfo: Any? { nil }

    /// Unavailable: Linux has no Combine.
    ///
    /// - Parameters:
    ///   - interval: The interval.
    ///   - tolerance: The tolerance.
    ///   - runLoop: The loop.
    ///   - mode: The mode.
    /// - Returns: Nothing.
    @available(
        *, unavailable,
        message:
            "there is no Combine; use scheduledTimer(withTimeInterval:repeats:block:), or import RunLoopsOpenCombine, which has the publishers of OpenCombine for this package"
    )
    public static func publish(
        every interval: TimeInterval, tolerance: TimeInterval? = nil, on runLoop: RunLoop,
        in mode: RunLoop.Mode
    ) -> Never { misuse("Timer.publish: unavailable") }
}
