/// A value that only one thread at a time accesses, stored without the run-time exclusivity checks of class properties.
///
/// At each change of a class property, Swift checks that no other access to the property is under way. Each check takes about 7 ns,
/// and a message would need several checks. Here no check is needed: only short operations change the values, and these operations
/// call no handler. To release a value that holds the user's objects, take it out first; see ``Swift/Optional/replace(with:)``.
///
/// With `-D CHECKS_EXCLUSIVITY`, the values are checked. The tests with the address sanitizer run with this condition.
///
/// A property of a class in this module can instead have the attributes `@safe @exclusivity(unchecked)`, inside `#if
/// !CHECKS_EXCLUSIVITY`. Then the value needs no memory of its own. The same rules hold for it.
///
/// The accessors of `value` return its address. If they were coroutines, code of other modules would retain each array that it
/// reads. Without `@usableFromInline` on the type, code of other modules would call the accessors instead of inlining them.
///
/// `@safe`: the memory belongs to the owner from `init` to `deinit`, and the owner determines which thread may access it.
@safe
@usableFromInline
package struct ExclusivityUnchecked<Value: ~Copyable>: ~Copyable {
    #if CHECKS_EXCLUSIVITY
        /// A property of a class, which Swift checks.
        @usableFromInline
        package final class Checked {
            @usableFromInline package var value: Value

            @inlinable
            package init(_ value: consuming Value) { self.value = value }
        }

        @usableFromInline package let storage: Checked

        @inlinable
        package init(_ value: consuming Value) { storage = Checked(value) }

        @inlinable
        package var value: Value {
            _read { yield storage.value }
            nonmutating _modify { yield &storage.value }
        }
    #else
        @usableFromInline package let storage: UnsafeMutablePointer<Value>

        @inlinable
        package init(_ value: consuming Value) {
            unsafe storage = .allocate(capacity: 1)
            unsafe storage.initialize(to: value)
        }

        @inlinable
        deinit {
            unsafe storage.deinitialize(count: 1)
            unsafe storage.deallocate()
        }

        @inlinable
        package var value: Value {
            @inline(__always)
            unsafeAddress { unsafe UnsafePointer(storage) }
            @inline(__always)
            nonmutating unsafeMutableAddress { unsafe storage }
        }
    #endif
}

@available(*, unavailable)
extension ExclusivityUnchecked: Sendable where Value: ~Copyable {}
