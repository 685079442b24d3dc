internal import CRunLoops
internal import Glibc

/// Releases the objects that the package keeps for a thread when that thread ends.
///
/// The parts of the package that keep such objects are in folders that depend on this folder, so this type cannot call them by
/// name. Instead, each part registers the function that releases its objects. This type defines only the order of the parts.
enum ThreadEnd {
    /// A part of the package that keeps objects for a thread.
    ///
    /// The cases are in the order in which the parts release their objects.
    enum Part: CaseIterable {
        /// The thread's loop.
        ///
        /// The loop comes first. When it ends, it can destroy values whose `deinit` sends messages to other loops, and sending
        /// needs the slabs.
        case loop
        /// The port sets that the thread serves.
        case portSets
        /// The thread's slabs, which are the memory for the messages that the thread sends.
        case slabs
        /// The recorded events of the thread.
        ///
        /// The events come last, because events can be recorded while the other parts release their objects.
        case events
    }

    /// A function that releases the objects that one part of the package keeps for the calling thread.
    ///
    /// It can return a second function, which is called after all parts have released their objects. If there is no second
    /// function, it returns nil.
    typealias Release = @Sendable () -> (() -> Void)?

    private static let releases = ForkSafe<[Part: Release]>([:])

    /// Makes the calling thread call ``run()`` when it ends, and registers the function that releases a part's objects.
    ///
    /// A second call for the same part on the same thread has no further effect.
    ///
    /// - Parameters:
    ///   - part: The part that keeps objects for the calling thread.
    ///   - release: A function that releases the part's objects for the thread that calls it. The first call for a part, on any
    ///     thread, registers the function, which every thread then calls when it ends. Later calls for the part ignore `release`.
    static func watch(_ part: Part, _ release: @escaping Release) {
        releases.withLock { releases in if releases[part] == nil { releases[part] = release } }
        // Any value but null makes the destructor run. If a destructor of other code uses a loop after this destructor has run,
        // that use calls this function again, and the system runs the destructors once more (in at most four rounds).
        _ = unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1))
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        // Safe: this fills a local value, and the destructor is a C function that ignores its argument.
        let code = unsafe pthread_key_create(&key) { _ in ThreadEnd.run() }
        if code != 0 { fatalError("\(SystemError(call: "pthread_key_create", code: code))") }
        return key
    }()

    /// Releases all objects that the package keeps for the calling thread.
    ///
    /// This calls the ``Release`` function of each part, and then the second functions that those calls have returned.
    static func run() {
        // In a forked child, these objects belong to the parent, and locks that other threads held can stay locked for ever.
        if Fork.isChild { return }
        var followers: [() -> Void] = []
        for part in Part.allCases {
            // Each part is looked up in turn, because a part can be registered while the previous part releases its objects.
            if let follower = releases.withLock({ $0[part] })?() { followers.append(follower) }
        }
        for follower in followers { follower() }
        // This is the last step. After it, a simulation no longer waits for this thread.
        ThreadDriver.current?.end()
    }
}
