/// A reference that does not keep its object alive.
final class WeakObject: Sendable {
    /// `nonisolated(unsafe)`: set in `init` only, and reading a weak reference is atomic.
    nonisolated(unsafe) private(set) weak var object: (any AnyObject & Sendable)?

    init(_ object: any AnyObject & Sendable) { unsafe self.object = object }
}
