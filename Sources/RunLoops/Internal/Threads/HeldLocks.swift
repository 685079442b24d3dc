internal import CRunLoops

/// The number of ``Guarded`` values whose locks the calling thread holds, in debug builds.
///
/// A handler and a task that is resumed run code of the program, which can come back to the same lock and wait for ever: an executor
/// of the program may run a task inside the call that resumes it. So in debug builds, both end the program if a lock is held. A
/// release build counts nothing.
@usableFromInline
package enum HeldLocks: Sendable {
    @usableFromInline
    package static func add(_ change: CInt) { runloops_thread_count_lock(change) }

    /// Ends the program if the calling thread holds a lock.
    @inline(__always)
    static func requireNone() {
        #if DEBUG
            if runloops_thread_held_locks() != 0 {
                fatalError("RunLoop: code of the program is called under a lock of the package")
            }
        #endif
    }
}
