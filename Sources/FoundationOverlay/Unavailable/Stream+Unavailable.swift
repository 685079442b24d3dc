public import Foundation
public import RunLoops

public import class RunLoops.RunLoop

/// Members that would put an input of Foundation's into a loop of this package, which cannot serve it.
extension Stream {
    /// Refused: Foundation's streams work in Foundation's loop only.
    ///
    /// - Parameters:
    ///   - loop: A loop.
    ///   - mode: The mode.
    @available(
        *, unavailable,
        message:
            "a stream of Foundation works in Foundation.RunLoop only; pass and run that one, or use Connection of the module Streams"
    )
    public func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) {}

    /// Refused: Foundation's streams work in Foundation's loop only.
    ///
    /// - Parameters:
    ///   - loop: A loop.
    ///   - mode: The mode.
    @available(
        *, unavailable, message: "a stream of Foundation is never in this loop; pass Foundation.RunLoop"
    )
    public func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {}
}
