package import Glibc

/// A value behind a lock.
///
/// A pthread mutex, and not the standard library's `Mutex`: where several threads want that one, the kernel hands it
/// over by writing the word itself, which the thread sanitizer cannot see, so it reports what is guarded as
/// races. This one costs the same. It inherits priorities as that one does: see ``InheritingMutex``.
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
        unsafe mutex = InheritingMutex.make()
        unsafe storage = .allocate(capacity: 1)
        unsafe storage.initialize(to: value)
    }

    @inlinable
    deinit {
        unsafe storage.deinitialize(count: 1)
        unsafe storage.deallocate()
        unsafe InheritingMutex.destroy(mutex)
    }

    /// Looks at the value, or changes it, alone.
    @inlinable @inline(__always)
    package borrowing func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Costs the same as locking it while it is free.
        if unsafe pthread_mutex_trylock(mutex) != 0 { waitToLock() }
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try unsafe body(&storage.pointee)
    }

    /// Locks the mutex, which is not free.
    ///
    /// A forked child ends with a message: the thread that holds the mutex may be one of its parent's, and would never unlock
    /// it.
    @usableFromInline @inline(never)
    package borrowing func waitToLock() {
        Fork.check("RunLoop")
        unsafe pthread_mutex_lock(mutex)
    }
}
