/// A weak reference that any thread can use.
package final class WeakReference: Sendable {
    /// The object, if it still exists.
    ///
    /// `nonisolated(unsafe)`: only `init` sets the reference, and reading a weak reference is atomic.
    @usableFromInline nonisolated(unsafe) package weak var object: (any AnyObject & Sendable)?

    @inlinable
    package init(_ object: any AnyObject & Sendable) { unsafe self.object = object }

    /// True while the object exists.
    @inlinable package var isAlive: Bool { unsafe object != nil }

    /// The object, if it still exists.
    @inlinable package var sendable: (any AnyObject & Sendable)? { unsafe object }

    /// Returns the object, if it still exists and is of this type.
    @inlinable
    package func object<Type: AnyObject>(as type: Type.Type) -> Type? { unsafe object as? Type }
}
