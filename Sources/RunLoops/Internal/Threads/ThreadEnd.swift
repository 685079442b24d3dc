internal import CThreads
internal import Glibc

/// The work at the end of each thread for which the package keeps something.
///
/// The parts of the package that keep something are in rooms above this one. Each of them registers the function that releases
/// it, and this type knows only their order.
enum ThreadEnd {
    /// A part of the package that keeps something for a thread, in the order in which the parts release it.
    enum Part: CaseIterable {
        /// The thread's loop.
        ///
        /// The loop comes first, because ending it may destroy values that post to other loops, which needs the slabs.
        case loop
        /// The port sets that the thread serves.
        case portSets
        /// The slabs from which the thread takes nodes.
        case slabs
        /// The events that a flight recorder has of the thread.
        ///
        /// They come last, because the others may be recorded.
        case events
    }

    /// Releases what a part keeps for the calling thread.
    ///
    /// It returns the function to call once all parts have released theirs, or nil for none.
    typealias Release = @Sendable () -> (() -> Void)?

    private static let releases = ForkSafe<[Part: Release]>([:])

    /// Asks for ``run()`` when the calling thread ends.
    ///
    /// Calling this twice is harmless.
    ///
    /// - Parameters:
    ///   - part: The part that keeps something for the calling thread.
    ///   - release: Releases it, for this and every other thread.
    static func watch(_ part: Part, _ release: @escaping Release) {
        releases.withLock { releases in if releases[part] == nil { releases[part] = release } }
        // Any value but null makes the destructor run. A destructor of other code's may use a loop after ours ran: that
        // watches again, and the system goes round once more (four rounds at most).
        _ = unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1))
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        // Safe: the key is ours; the destructor is a C function that takes nothing from its argument.
        let code = unsafe pthread_key_create(&key) { _ in ThreadEnd.run() }
        if code != 0 { fatalError("\(SystemError(call: "pthread_key_create", code: code))") }
        return key
    }()

    /// Releases all that the package keeps for the calling thread, and then calls the functions that wait for that.
    static func run() {
        // The things of a forked child are its parent's, and other threads' locks may be held there for ever.
        if Fork.isChild { return }
        var followers: [() -> Void] = []
        for part in Part.allCases {
            // Looked up in turn: a part may be registered while the one before it is released.
            if let follower = releases.withLock({ $0[part] })?() { followers.append(follower) }
        }
        for follower in followers { follower() }
        // This is the last step: after it, nothing in a simulation waits for this thread.
        ThreadDriver.current?.end()
    }
}
