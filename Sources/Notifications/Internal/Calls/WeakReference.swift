/// A reference that does not keep its object alive, for any thread.
final class WeakReference: Sendable {
    /// `nonisolated(unsafe)`: set in `init` only, and reading a weak reference is atomic.
    nonisolated(unsafe) private weak var object: (any AnyObject & Sendable)?

    init(_ object: any AnyObject & Sendable) { unsafe self.object = object }

    /// True if the object has not been destroyed.
    var isAlive: Bool { unsafe object != nil }

    /// The object, if it is alive.
    var sendable: (any AnyObject & Sendable)? { unsafe object }

    /// The object, if it is alive and of this type.
    func object<Type: AnyObject>(as type: Type.Type) -> Type? { unsafe object as? Type }
}
