internal import CRunLoops

/// A value behind a lock that also works in a forked child, where the lock is free and the value is consistent.
///
/// If another thread of the parent holds an ordinary lock at the fork, that lock is never unlocked in the child, because the child
/// has only one thread. So every fork first takes the locks of these values. All values share a few locks, which lie on separate
/// cache lines.
///
/// This is for the few values that a child may use. A value that is locked often, or for a long time, uses ``Guarded`` instead.
///
/// The body of ``withLock(_:)`` uses no other ``ForkSafe`` value, because that value can have the same lock. For the same reason,
/// the body calls no code of the user, and destroys no object of the user.
///
/// `@safe`: the memory belongs to this value from `init` to `deinit`. `@unchecked Sendable`: the value is accessed under the
/// lock only.
@safe
package struct ForkSafe<Value: Sendable>: ~Copyable, @unchecked Sendable {
    // The property is usable from inlinable code, so that the compiler knows the type of the value when it compiles other modules.
    @usableFromInline package let storage: UnsafeMutablePointer<Value>

    @inlinable
    package init(_ value: Value) {
        unsafe storage = .allocate(capacity: 1)
        unsafe storage.initialize(to: value)
    }

    @inlinable
    deinit {
        unsafe storage.deinitialize(count: 1)
        unsafe storage.deallocate()
    }

    /// Reads or changes the value under the lock.
    @inlinable @inline(__always)
    package borrowing func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe runloops_fork_lock(storage)
        defer { unsafe runloops_fork_unlock(storage) }
        return try unsafe body(&storage.pointee)
    }
}
