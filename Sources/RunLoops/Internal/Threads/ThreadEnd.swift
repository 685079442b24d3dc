internal import CThreads
internal import Glibc

/// What is done for a thread of which the package keeps something, when it ends.
enum ThreadEnd {
    /// Asks for ``run()`` when the calling thread ends.
    ///
    /// Asking again is harmless.
    static func watch() {
        // Any value but null makes the destructor run. A destructor of somebody else's may use a loop after
        // ours ran: that watches again, and the system goes round once more (four rounds at most).
        _ = unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1))
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        // Safe: the key is ours; the destructor is a C function that takes nothing from its argument.
        let code = unsafe pthread_key_create(&key) { _ in ThreadEnd.run() }
        if code != 0 { fatalError("\(SystemError(call: "pthread_key_create", code: code))") }
        return key
    }()

    /// Lets go of all that the calling thread keeps, and then tells who waits for that.
    ///
    /// The loop first: ending it may destroy what posts to other loops, which needs the slabs.
    static func run() {
        // What a forked child has is its parent's, and other threads' locks may be held there for ever.
        if Fork.isChild { return }
        let notice = RunLoop.endCurrent()
        PortSetServers.endCurrent()
        SlabCache.closeCurrent()
        notice?.post()
        // Last: from here on nothing of a simulation waits for this thread.
        ThreadDriver.current?.end()
    }
}
