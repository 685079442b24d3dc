public import Foundation
public import RunLoops

public import class RunLoops.RunLoop

/// Members of Foundation's run loop that this package refuses; the compiler's message for each says what to write instead.
extension RunLoop {
    /// Unavailable: a Foundation port works only in a Foundation run loop.
    ///
    /// - Parameters:
    ///   - port: A Foundation port.
    ///   - mode: The mode.
    @available(
        *, unavailable,
        message:
            "a port of Foundation works in Foundation.RunLoop only; use Port() to keep a mode alive, RunLoops.Port<Message> between threads, MessagePort between processes"
    )
    public func add(_ port: Foundation.Port, forMode mode: Mode) {}

    /// Unavailable: Swift on Linux has no selectors.
    ///
    /// - Parameters:
    ///   - selector: A selector.
    ///   - target: The target.
    ///   - argument: The argument.
    ///   - order: The order.
    ///   - modes: The modes.
    @available(*, unavailable, message: "use perform(inModes:block:), which takes a closure")
    public func perform(_ selector: Any, target: Any, argument: Any?, order: Int, modes: [Mode]) {}

    /// Unavailable: Swift on Linux has no selectors.
    ///
    /// - Parameters:
    ///   - selector: A selector.
    ///   - target: The target.
    ///   - argument: The argument.
    @available(
        *, unavailable,
        message: "call cancel() of the DelayedPerform that perform(after:inModes:) has returned"
    )
    public func cancelPerform(_ selector: Any, target: Any, argument: Any?) {}

    /// Unavailable: a Foundation timer fires only in a Foundation run loop.
    ///
    /// - Parameters:
    ///   - timer: A Foundation timer.
    ///   - mode: The mode.
    @available(
        *, unavailable,
        message:
            "a timer of Foundation fires in Foundation.RunLoop only; make a Timer without the module's name in front"
    )
    public func add(_ timer: Foundation.Timer, forMode mode: Mode) {}

    /// Unavailable: OpenCombineFoundation extends Foundation's loop.
    @available(
        *, unavailable,
        message:
            "OpenCombineFoundation extends Foundation's loop; import RunLoopsOpenCombine in its place, or write Foundation.RunLoop and make a RunLoopBridge on its thread"
    )
    public var ocombine: Never { misuse("RunLoop.ocombine: unavailable") }
}
