internal import Foundation
internal import RunLoops
internal import Synchronization

/// Finds the object whose identity stands for the object of a notification when it is compared.
///
/// An instance of a class stands for itself. Equal hashable values share one object, as long as a notification or an observation
/// holds it. Any other value is equal to no value.
enum ObjectIdentity {
    /// The identities of the values in use.
    private static let identities = Mutex<[ComparedValue: WeakReference]>([:])

    /// Returns the object whose identity is compared.
    ///
    /// - Parameter object: An object or a value; nil for none.
    /// - Returns: The object, which the caller must keep alive as long as its identity is compared; nil for none.
    static func of(_ object: Any?) -> (any AnyObject & Sendable)? {
        guard let object else { return nil }
        if type(of: object) is AnyClass { return instance(object) }
        guard let value = object as? AnyHashable else { return ValueIdentity(nil) }
        return identity(of: ComparedValue(value: value))
    }

    /// Returns the instance of a class as a reference.
    ///
    /// This does not cast to `AnyObject`, because such a cast looks for a boxed value first, which takes longer than the rest of a
    /// post.
    private static func instance(_ object: Any) -> any AnyObject & Sendable {
        // Safe: the container of an instance of a class begins with the reference, and `Sendable` has no representation. The core
        // uses only the identity of the reference, and calls none of its members.
        unsafe withUnsafeBytes(of: object) { container in
            let reference = unsafe container.load(as: Unmanaged<AnyObject>.self)
            return unsafe unsafeBitCast(reference.takeUnretainedValue(), to: (any AnyObject & Sendable).self)
        }
    }

    /// Returns the identity of a value, which is the same one for every equal value.
    private static func identity(of value: ComparedValue) -> ValueIdentity {
        // The lock is held while the value's own code hashes and compares it, as with any dictionary that a lock guards.
        identities.withLock { identities in
            if let known = identities[value]?.object(as: ValueIdentity.self) { return known }
            let identity = ValueIdentity(value)
            identities[value] = WeakReference(identity)
            return identity
        }
    }

    /// Removes a value whose identity is being destroyed, unless the value has received another identity meanwhile.
    fileprivate static func forget(_ value: ComparedValue) {
        // `living` is held until the lock is free: it may be the last reference by then, and its release calls this method.
        let living = identities.withLock { identities in
            let living = identities[value]?.sendable
            if living == nil { identities[value] = nil }
            return living
        }
        withExtendedLifetime(living) {}
    }
}

/// A value that is the object of notifications.
///
/// `@unchecked Sendable`: the value is constant, and is only hashed and compared, on any thread as with Foundation.
private struct ComparedValue: Hashable, @unchecked Sendable {
    let value: AnyHashable
}

/// The object that stands for all values that are equal to its value; without a value, for a value that is equal to no other.
private final class ValueIdentity: Sendable {
    private let value: ComparedValue?

    init(_ value: ComparedValue?) { self.value = value }

    deinit { if let value { ObjectIdentity.forget(value) } }
}
