/// All loops of the process that have not ended, for whoever watches them.
///
/// > Thread safety: any thread.
enum LoopRegistry {
    private struct Contents {
        var loops: Set<RunLoop> = []
        /// How many watch.
        var watchers = 0
    }

    /// Whoever comes here has made sure not to be a forked child, in which another thread may hold the lock for ever.
    private static let contents = Guarded(Contents())

    /// A loop was made.
    static func add(_ loop: RunLoop) {
        contents.withLock { contents in
            contents.loops.insert(loop)
            loop.inbox.handlers.addWatchers(contents.watchers)
        }
    }

    /// It has ended.
    static func remove(_ loop: RunLoop) {
        // Let go of after the lock.
        let removed = contents.withLock { $0.loops.remove(loop) }
        withExtendedLifetime(removed) {}
    }

    /// Somebody watches the handlers of all loops, of those to come, too.
    static func beginWatching() { addWatchers(1) }

    /// And does no more.
    static func endWatching() { addWatchers(-1) }

    private static func addWatchers(_ number: Int) {
        contents.withLock { contents in
            contents.watchers += number
            for loop in contents.loops { loop.inbox.handlers.addWatchers(number) }
        }
    }

    /// The loops that there are.
    static var loops: Set<RunLoop> { contents.withLock { $0.loops } }
}
