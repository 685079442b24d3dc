package import Glibc

/// The mutexes behind all locks of the library.
///
/// While a real-time thread waits for such a mutex, the kernel gives the thread that holds it the same priority. Otherwise, if
/// a thread of low priority lost its processor while it held the mutex, the real-time thread would wait until all threads of
/// priorities between the two have nothing to do. Ordinary threads inherit nothing: their nice values only divide the
/// processor's time.
///
/// The word of such a mutex is the number of the thread that holds it. A forked child has another number. So it cannot unlock a
/// mutex that its parent's thread locked before the fork, and has to initialize that mutex again.
package enum InheritingMutex {
    /// Makes an unlocked mutex.
    @inlinable
    package static func make() -> UnsafeMutablePointer<pthread_mutex_t> {
        let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        unsafe initialize(mutex)
        return unsafe mutex
    }

    /// Initializes an unlocked mutex in new memory or, in a forked child, in the memory of one that was locked at the fork.
    @inlinable
    package static func initialize(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
        var attributes = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&attributes)
        unsafe pthread_mutexattr_setprotocol(&attributes, CInt(PTHREAD_PRIO_INHERIT))
        // A kernel may be built without priority inheritance.
        if unsafe pthread_mutex_init(mutex, &attributes) != 0 { unsafe pthread_mutex_init(mutex, nil) }
        unsafe pthread_mutexattr_destroy(&attributes)
    }

    /// Frees an unlocked mutex.
    @inlinable
    package static func destroy(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }
}
