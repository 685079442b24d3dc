public import Foundation
public import RunLoops

public import class RunLoops.RunLoop

/// Members of Foundation's streams that this package refuses, because a loop of this package cannot serve such a stream.
extension Stream {
    /// Unavailable: Foundation's streams work in Foundation's loop only.
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

    /// Unavailable: Foundation's streams work in Foundation's loop only.
    ///
    /// - Parameters:
    ///   - loop: A loop.
    ///   - mode: The mode.
    @available(
        *, unavailable, message: "a stream of Foundation is never in this loop; pass Foundation.RunLoop"
    )
    public func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {}
}
