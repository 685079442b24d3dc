/// Tells when it is destroyed: what a block or a handler captures, to see when that is let go of.
public final class Canary: Sendable {
    private let onEnd: @Sendable () -> Void

    /// Makes a canary.
    ///
    /// - Parameter onEnd: Called when it is destroyed, on the thread that does so.
    public init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    /// Makes a canary that opens a gate when it is destroyed.
    ///
    /// - Parameter gate: What is opened.
    public convenience init(_ gate: Gate) { self.init { gate.open() } }

    deinit { onEnd() }

    /// Does nothing: a closure that calls it captures the canary.
    public func sing() {}
}
