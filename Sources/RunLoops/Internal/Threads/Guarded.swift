public import Glibc

/// A value behind a lock.
///
/// The lock is a pthread mutex instead of the standard library's `Mutex`. If several threads contend for a `Mutex`, the kernel
/// itself writes to the memory of the `Mutex`. The thread sanitizer cannot observe that write, and reports the guarded accesses as
/// races. The pthread mutex costs the same, and also inherits priorities: see ``InheritingMutex``.
///
/// Code that holds a lock calls no handler, and resumes no task; debug builds check both, see ``HeldLocks``. Usually, it also makes
/// no system call and takes no other lock. Comments give the reasons for the exceptions: `receiving` of a ``PortSetCore``, the outbox
/// of a ``PortConnection``, the listener of a ``MessagePortCore/Registration``, and the graph of all waits, ``ThreadWait/graph``.
///
/// The mutex and the value share one piece of memory.
///
/// `@safe`: the memory belongs to this value from `init` to `deinit`, and the address of the mutex never changes. `@unchecked
/// Sendable`: the value is accessed under the lock only.
@safe @usableFromInline
package struct Guarded<Value: Sendable>: ~Copyable, @unchecked Sendable {
    // The properties are usable from inlinable code, so that the compiler knows their types when it compiles other modules.
    @usableFromInline package let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline package let storage: UnsafeMutablePointer<Value>

    @inlinable
    package init(_ value: Value) {
        // The value comes behind the mutex. Memory of `malloc` is aligned for both.
        let alignment = MemoryLayout<Value>.alignment
        precondition(alignment <= 16, "a guarded value needs no more than the usual alignment")
        let offset = unsafe (MemoryLayout<pthread_mutex_t>.size + alignment - 1) & ~(alignment - 1)
        guard let memory = unsafe malloc(offset + MemoryLayout<Value>.size) else {
            fatalError("RunLoop: no memory")
        }
        unsafe mutex = memory.bindMemory(to: pthread_mutex_t.self, capacity: 1)
        unsafe InheritingMutex.initialize(mutex)
        unsafe storage = (memory + offset).bindMemory(to: Value.self, capacity: 1)
        unsafe storage.initialize(to: value)
    }

    @inlinable
    deinit {
        unsafe storage.deinitialize(count: 1)
        unsafe pthread_mutex_destroy(mutex)
        unsafe free(mutex)
    }

    /// Reads or changes the value under the lock.
    @inlinable @inline(__always)
    package borrowing func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // If the mutex is free, this costs the same as `pthread_mutex_lock`.
        if unsafe pthread_mutex_trylock(mutex) != 0 { waitToLock() }
        #if DEBUG
            HeldLocks.add(1)
        #endif
        defer {
            #if DEBUG
                HeldLocks.add(-1)
            #endif
            unsafe pthread_mutex_unlock(mutex)
        }
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
