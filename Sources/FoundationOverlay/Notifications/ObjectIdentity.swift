internal import Foundation
internal import RunLoops
internal import Synchronization

/// Finds the instance that stands for a notification's object in comparisons.
///
/// The object of a notification can be a value of any type. Two objects are equal if the same instance stands for both. An instance
/// of a class stands for itself. Equal hashable values share one instance for as long as a notification or an observation holds it,
/// and so does a type. A value in an optional is the value itself, because people write `as Any` to silence a warning about an
/// optional. Another value that is not hashable gets an instance of its own, so it is equal to no value.
enum ObjectIdentity {
    /// For each value in use, the instance that stands for it.
    private static let identities = Mutex<[ComparedValue: WeakReference]>([:])

    /// Returns the instance that stands for a notification's object in comparisons.
    ///
    /// - Parameter object: The object of a notification, which is an instance of a class or a value; nil for no object.
    /// - Returns: The instance; nil for no object. The caller must keep the instance alive for as long as the instance is compared.
    static func of(_ object: Any?) -> (any AnyObject & Sendable)? {
        guard let object else { return nil }
        if type(of: object) is AnyClass { return instance(object) }
        if let optional = object as? any OptionalValue {
            return optional.content.map { of($0) } ?? identity(of: ComparedValue(value: EmptyObject()))
        }
        if let value = object as? AnyHashable { return identity(of: ComparedValue(value: value)) }
        if let type = object as? Any.Type {
            return identity(of: ComparedValue(value: TypeObject(type: ObjectIdentifier(type))))
        }
        return ValueIdentity(nil)
    }

    /// True if the instance stands for a value, and must be kept for as long as the value is compared.
    static func standsForValue(_ instance: any AnyObject & Sendable) -> Bool { instance is ValueIdentity }

    /// Returns a reference to an instance of a class.
    ///
    /// This does not cast to `AnyObject`. Such a cast first looks for a boxed value, and that takes longer than the rest of a post.
    private static func instance(_ object: Any) -> any AnyObject & Sendable {
        // Safe: the container of an instance of a class begins with the reference, and `Sendable` has no representation. The core
        // uses only the identity of the reference, and calls none of its members.
        unsafe withUnsafeBytes(of: object) { container in
            let reference = unsafe container.load(as: Unmanaged<AnyObject>.self)
            return unsafe unsafeBitCast(reference.takeUnretainedValue(), to: (any AnyObject & Sendable).self)
        }
    }

    /// Returns the instance that stands for a value, and for every equal value.
    private static func identity(of value: ComparedValue) -> ValueIdentity {
        // The lock is held while the value's own code hashes and compares it, as with any dictionary that a lock guards.
        identities.withLock { identities in
            if let known = identities[value]?.object(as: ValueIdentity.self) { return known }
            let identity = ValueIdentity(value)
            identities[value] = WeakReference(identity)
            return identity
        }
    }

    /// Removes the entry of a value whose `ValueIdentity` is being destroyed.
    ///
    /// If an equal value has received a new `ValueIdentity` meanwhile, the entry stays.
    fileprivate static func forget(_ value: ComparedValue) {
        // `living` keeps the equal value's `ValueIdentity` alive until the lock is free. By then, `living` can be the last
        // reference. Its release calls this method again, which acquires the lock, so the lock must not be held at that time.
        // The same holds for the value in the removed entry, because it can be another one than `value`, and the last one of its kind.
        let kept: (living: AnyObject?, removed: ComparedValue?) = identities.withLock { identities in
            guard let index = identities.index(forKey: value) else { return (nil, nil) }
            let living = identities.values[index].sendable
            return (living, living == nil ? identities.remove(at: index).key : nil)
        }
        withExtendedLifetime(kept) {}
    }
}

/// The optionals, whatever they hold.
private protocol OptionalValue {
    var content: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var content: Any? { map { $0 } }
}

/// What an empty optional is compared as: all are equal, as they are when Foundation makes objects of them.
private struct EmptyObject: Hashable {}

/// What a type is compared as.
private struct TypeObject: Hashable {
    let type: ObjectIdentifier
}

/// A value that is the object of notifications.
///
/// `@unchecked Sendable`: the value is constant. It is only hashed and compared. As with Foundation, this can happen on any
/// thread.
private struct ComparedValue: Hashable, @unchecked Sendable {
    let value: AnyHashable
}

/// The instance that stands for `value` and all values that are equal to it.
///
/// If `value` is nil, the instance stands for a single value that is not hashable.
private final class ValueIdentity: Sendable {
    private let value: ComparedValue?

    init(_ value: ComparedValue?) { self.value = value }

    deinit { if let value { ObjectIdentity.forget(value) } }
}
