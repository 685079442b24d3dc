internal import CThreads

/// A value behind a lock that a forked child finds free, and whole the value.
///
/// For the few values that a child may use: it has one thread, and a lock that another thread of its parent held at the fork is
/// never given back there. These locks are taken by every fork first. All values share a few of them, which lie on cache lines
/// of their own, so a value that is locked often, or for long, has a ``Guarded`` of its own instead.
///
/// The body takes no other ``ForkSafe``, which may have the same lock: it calls no code of the user's, and destroys nothing
/// of the user's.
///
/// `@safe`: the memory is this value's from `init` to `deinit`.
/// `@unchecked Sendable`: the value is touched under the lock only.
@safe
package struct ForkSafe<Value: Sendable>: ~Copyable, @unchecked Sendable {
    // Inlinable, so that the type of the value is known to the compiler in the other module.
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

    /// Looks at the value, or changes it, alone.
    @inlinable @inline(__always)
    package borrowing func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe runloops_fork_lock(storage)
        defer { unsafe runloops_fork_unlock(storage) }
        return try unsafe body(&storage.pointee)
    }
}
