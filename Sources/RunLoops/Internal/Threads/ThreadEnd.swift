internal import CThreads
internal import Glibc

/// The work at the end of each thread for which the package keeps something.
///
/// The parts of the package that keep something are in folders above this one. Each part registers the function that releases
/// what the part keeps, and this type knows only the order of the parts.
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
    /// It returns a function to call once all parts have released what they keep, or nil for none.
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
        // Any value but null makes the destructor run. A destructor of other code may use a loop after ours has run. That use
        // calls this function again, and the system runs the destructors once more (in at most four rounds).
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
        // In a forked child, these things belong to the parent, and locks that other threads held may stay locked for ever.
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
