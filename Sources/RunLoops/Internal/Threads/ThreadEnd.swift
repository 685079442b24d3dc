internal import CThreads
internal import Glibc

/// The clean-up at the end of a thread for which the package keeps something.
enum ThreadEnd {
    /// Has ``run()`` called when the calling thread ends.
    ///
    /// Calling this twice is harmless.
    static func watch() {
        // Any value but null makes the destructor run. The destructor of another library may use a loop after ours has run:
        // that calls `watch` again, and the system runs the destructors once more (at most four times).
        _ = unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1))
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        // Safe: the key is ours; the destructor is a C function that takes nothing from its argument.
        let code = unsafe pthread_key_create(&key) { _ in ThreadEnd.run() }
        if code != 0 { fatalError("\(SystemError(call: "pthread_key_create", code: code))") }
        return key
    }()

    /// Releases everything that the package keeps for the calling thread, and then wakes the threads and tasks that wait for
    /// its end.
    ///
    /// The loop comes first: ending it may destroy objects that post to other loops, which needs the slabs.
    static func run() {
        // A forked child has only its parent's objects, and the locks of other threads may be held there forever.
        if Fork.isChild { return }
        let notice = RunLoop.endCurrent()
        PortSetServers.endCurrent()
        SlabCache.closeCurrent()
        notice?.post()
        // Last: from here on, nothing in a simulation waits for this thread.
        ThreadDriver.current?.end()
    }
}
