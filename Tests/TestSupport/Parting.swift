/// An object that calls a closure when it is destroyed, on the thread that releases it last.
public final class Parting {
    private let body: () -> Void

    /// Makes the object.
    ///
    /// - Parameter body: The closure.
    public init(_ body: @escaping () -> Void) { self.body = body }

    deinit { body() }

    /// Makes a closure that calls this keep the object alive.
    public func hold() {}
}
