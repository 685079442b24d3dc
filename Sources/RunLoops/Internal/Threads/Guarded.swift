package import Glibc

/// A value behind a lock.
///
/// A pthread mutex, and not the standard library's `Mutex`: where several threads want that one, the kernel hands it
/// over by writing the word itself, which the thread sanitizer cannot see, so it reports what is guarded as
/// races. This one costs the same.
///
/// Locks are leaves: the body calls no handler, and as a rule makes no system call and takes no other lock. An exception is
/// argued where it is: those are the turn of a ``PortSetCore``, the outbox of a ``PortConnection``, the listener of a
/// ``MessagePortCore/Registration``, and the graph of all waits, ``ThreadWait/graph``.
///
/// `@safe`: the memory is this value's from `init` to `deinit`, and the address of the mutex never changes.
/// `@unchecked Sendable`: the value is touched under the lock only.
@safe
package struct Guarded<Value: Sendable>: ~Copyable, @unchecked Sendable {
    // Inlinable, so that what is guarded in the other module is known to the compiler there.
    @usableFromInline package let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline package let storage: UnsafeMutablePointer<Value>

    @inlinable
    package init(_ value: Value) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe storage = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        unsafe storage.initialize(to: value)
    }

    @inlinable
    deinit {
        unsafe storage.deinitialize(count: 1)
        unsafe pthread_mutex_destroy(mutex)
        unsafe storage.deallocate()
        unsafe mutex.deallocate()
    }

    /// Looks at the value, or changes it, alone.
    @inlinable @inline(__always)
    package borrowing func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try unsafe body(&storage.pointee)
    }
}
