package import Glibc

/// A value behind a lock.
///
/// The lock is a pthread mutex instead of the standard library's `Mutex`. If several threads contend for a `Mutex`, the kernel
/// itself writes to the memory of the `Mutex`. The thread sanitizer cannot observe that write, and reports the guarded accesses as
/// races. The pthread mutex costs the same, and also inherits priorities: see ``InheritingMutex``.
///
/// Code that holds a lock calls no handler. Usually, it also makes no system call and takes no other lock. Comments give the
/// reasons for the exceptions: `receiving` of a ``PortSetCore``, the outbox of a ``PortConnection``, the listener of a
/// ``MessagePortCore/Registration``, and the graph of all waits, ``ThreadWait/graph``.
///
/// `@safe`: the memory belongs to this value from `init` to `deinit`, and the address of the mutex never changes. `@unchecked
/// Sendable`: the value is accessed under the lock only.
@safe
package struct Guarded<Value: Sendable>: ~Copyable, @unchecked Sendable {
    // The properties are usable from inlinable code, so that the compiler knows their types when it compiles other modules.
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

    /// Reads or changes the value under the lock.
    @inlinable @inline(__always)
    package borrowing func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // If the mutex is free, this costs the same as `pthread_mutex_lock`.
        if unsafe pthread_mutex_trylock(mutex) != 0 { waitToLock() }
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try unsafe body(&storage.pointee)
    }

    /// Waits until the mutex is free, and locks it.
    ///
    /// A forked child ends with a message instead: the mutex can belong to a thread of the parent, which would never unlock it in
    /// the child.
    @usableFromInline @inline(never)
    package borrowing func waitToLock() {
        Fork.check("RunLoop")
        unsafe pthread_mutex_lock(mutex)
    }
}
