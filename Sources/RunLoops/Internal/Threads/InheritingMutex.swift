package import Glibc

/// The mutexes behind all locks of the library.
///
/// While a real-time thread waits for one, the kernel gives the thread that holds it the same priority. Otherwise a thread
/// of low priority that lost its processor in the middle would keep the real-time thread waiting until all others between the
/// two have nothing to do. Among ordinary threads, whose nice values only divide the processor's time, nothing is inherited.
///
/// The word of such a mutex is the number of the thread that holds it. A forked child has another number: it cannot
/// unlock what its parent's thread had locked before the fork, and has to initialise that mutex anew.
package enum InheritingMutex {
    /// Makes a mutex that no thread holds.
    @inlinable
    package static func make() -> UnsafeMutablePointer<pthread_mutex_t> {
        let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        unsafe initialize(mutex)
        return unsafe mutex
    }

    /// Makes an unlocked mutex of new memory, or in a forked child of one that was locked at the fork.
    @inlinable
    package static func initialize(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
        var attributes = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&attributes)
        unsafe pthread_mutexattr_setprotocol(&attributes, CInt(PTHREAD_PRIO_INHERIT))
        // A kernel may be built without inheritance.
        if unsafe pthread_mutex_init(mutex, &attributes) != 0 { unsafe pthread_mutex_init(mutex, nil) }
        unsafe pthread_mutexattr_destroy(&attributes)
    }

    /// Frees a mutex that no thread holds.
    @inlinable
    package static func destroy(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }
}
