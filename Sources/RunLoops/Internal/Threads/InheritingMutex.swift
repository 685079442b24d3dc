public import Glibc

/// The mutexes behind all locks of the library: the owner of such a mutex inherits the priority of a waiting real-time thread.
///
/// While a real-time thread waits for such a mutex, the kernel gives that thread's priority to the thread that owns the mutex.
/// Without that, an owner of low priority could lose its processor to threads of medium priority, and the real-time thread would
/// wait for them, too. Ordinary threads inherit no priority: their nice values only divide the processor's time.
///
/// Such a mutex contains the ID of the thread that owns it. The thread of a forked child has another ID. So the child cannot unlock
/// a mutex that its parent's thread locked before the fork, and has to initialize that mutex again.
@usableFromInline
package enum InheritingMutex: Sendable {
    /// Initializes a mutex as unlocked.
    ///
    /// The memory is new or, in a forked child, holds a mutex that was locked at the fork.
    @inlinable
    package static func initialize(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
        var attributes = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&attributes)
        unsafe pthread_mutexattr_setprotocol(&attributes, CInt(PTHREAD_PRIO_INHERIT))
        // Some kernels are built without priority inheritance.
        if unsafe pthread_mutex_init(mutex, &attributes) != 0 { unsafe pthread_mutex_init(mutex, nil) }
        unsafe pthread_mutexattr_destroy(&attributes)
    }
}
