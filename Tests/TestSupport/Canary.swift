/// Reports its own destruction.
///
/// A block or a handler captures one, so that a test sees when it is released.
public final class Canary: Sendable {
    private let onEnd: @Sendable () -> Void

    /// Makes a canary.
    ///
    /// - Parameter onEnd: Called when it is destroyed, on the thread that does so.
    public init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    /// Makes a canary that opens a gate when it is destroyed.
    ///
    /// - Parameter gate: The gate to open.
    public convenience init(_ gate: Gate) { self.init { gate.open() } }

    deinit { onEnd() }

    /// Does nothing: a closure that calls it captures the canary.
    public func sing() {}
}
