#if DEBUG
    import Glibc
    import Synchronization

    @testable import RunLoops

    /// A watcher that is called at each race point of the threads that it watches.
    class RacePointWatcher: @unchecked Sendable {
        /// Called on a thread at a race point.
        ///
        /// - Parameter point: The race point.
        func threadIs(at point: RacePoint) {}

        /// Watches the calling thread during a call.
        ///
        /// - Parameter body: The function to call.
        /// - Returns: The result of the body.
        func watch<Result>(_ body: () throws -> Result) rethrows -> Result {
            _ = isHooked
            // Safe: the watcher outlives the body, and the thread forgets the watcher after it.
            unsafe pthread_setspecific(key, Unmanaged.passUnretained(self).toOpaque())
            defer { pthread_setspecific(key, nil) }
            return try body()
        }

        /// Calls a body without watching the thread.
        func pause(_ body: () -> Void) {
            pthread_setspecific(key, nil)
            body()
            unsafe pthread_setspecific(key, Unmanaged.passUnretained(self).toOpaque())
        }
    }

    /// The key for the watcher of each thread.
    private let key: pthread_key_t = {
        var key = pthread_key_t()
        // Safe: the key is a local variable, and has no destructor.
        unsafe pthread_key_create(&key, nil)
        return key
    }()

    /// Sets the hook once for all tests; threads without a watcher are not affected.
    private let isHooked: Bool = {
        _ = key
        let hook: @convention(c) (UInt8) -> Void = { step in
            // Safe: `watch` holds the watcher.
            guard let watcher = unsafe pthread_getspecific(key), let step = RacePoint(rawValue: step) else {
                return
            }
            unsafe Unmanaged<RacePointWatcher>.fromOpaque(watcher).takeUnretainedValue().threadIs(at: step)
        }
        RacePointHook.address.store(unsafe unsafeBitCast(hook, to: UInt.self), ordering: .releasing)
        return true
    }()
#endif
