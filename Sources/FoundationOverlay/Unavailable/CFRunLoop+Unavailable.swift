public import Foundation
internal import RunLoops

// Functions of Core Foundation that this package refuses; the compiler's message for each says what to write instead.

/// Unavailable: this package has no `CFRunLoop`.
///
/// - Returns: Nothing.
@available(*, unavailable, message: "there is no CFRunLoop; use RunLoop.current")
public func CFRunLoopGetCurrent() -> Never { misuse("CFRunLoopGetCurrent: unavailable") }

/// Unavailable: this package has no `CFRunLoop`.
///
/// - Returns: Nothing.
@available(*, unavailable, message: "there is no CFRunLoop; use RunLoop.main")
public func CFRunLoopGetMain() -> Never { misuse("CFRunLoopGetMain: unavailable") }

/// Unavailable: this package has no `CFRunLoop`.
@available(*, unavailable, message: "there is no CFRunLoop; use RunLoop.current.run(), which stop() ends")
public func CFRunLoopRun() {}

/// Unavailable: this package has no `CFRunLoop`.
///
/// - Parameter loop: A loop.
@available(*, unavailable, message: "there is no CFRunLoop; use stop() of a RunLoop")
public func CFRunLoopStop(_ loop: Any) {}

/// Unavailable: this package has no `CFRunLoop`.
///
/// - Parameter loop: A loop.
@available(*, unavailable, message: "there is no CFRunLoop; use wakeUp() of a RunLoop")
public func CFRunLoopWakeUp(_ loop: Any) {}

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
