/// An object that reports its destruction.
///
/// A block or a handler captures a canary, so that a test notices its release.
public final class Canary: Sendable {
    private let onEnd: @Sendable () -> Void

    /// Makes a canary.
    ///
    /// - Parameter onEnd: Called when the canary is destroyed, on the thread that destroys it.
    public init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    /// Makes a canary that opens a gate when it is destroyed.
    ///
    /// - Parameter gate: The gate to open.
    public convenience init(_ gate: Gate) { self.init { gate.open() } }

    deinit { onEnd() }

    /// Does nothing, but makes a closure that calls it capture the canary.
    public func sing() {}
}
