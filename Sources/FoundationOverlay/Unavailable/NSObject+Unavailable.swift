public import Foundation
internal import RunLoops

/// Unavailable: Swift on Linux has no selectors.
extension NSObject {
    /// Unavailable: Swift on Linux has no selectors.
    ///
    /// - Parameters:
    ///   - selector: A selector.
    ///   - argument: The argument.
    ///   - delay: The delay in seconds.
    @available(*, unavailable, message: "use RunLoop.current.perform(after:) with a closure")
    public func perform(_ selector: Any, with argument: Any?, afterDelay delay: TimeInterval) {}

    /// Unavailable: Swift on Linux has no selectors.
    ///
    /// - Parameters:
    ///   - selector: A selector.
    ///   - argument: The argument.
    ///   - wait: True to wait for the call.
    @available(*, unavailable, message: "use perform or performAndWait of RunLoop.main with a closure")
    public func performSelector(onMainThread selector: Any, with argument: Any?, waitUntilDone wait: Bool) {}

    /// Unavailable: Swift on Linux has no selectors.
    ///
    /// - Parameter target: The target.
    @available(
        *, unavailable,
        message: "call cancel() of the DelayedPerform that perform(after:inModes:) has returned"
    )
    public class func cancelPreviousPerformRequests(withTarget target: Any) {}
}
