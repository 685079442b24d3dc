internal import CThreads

/// Refuses loops in a child that was forked by a process that had some.
///
/// The child has one thread only, the one that forked: no loop's thread serves anything there, and a lock that another thread
/// held is never unlocked. Worse, the kernel's objects are its parent's: the parent misses what the child takes out of them. So
/// every way to a loop asks here first. It costs one load of a flag that is never written in the parent. A ``Guarded`` value asks
/// only before it waits for its lock, and a ``ForkSafe`` value need not ask.
package enum Fork {
    /// From now on a child finds out that it is one.
    ///
    /// Called for each loop: a process that forks before it has any is left alone, and so is its child.
    package static func watch() throws(SystemError) {
        if registration != 0 { throw SystemError(call: "pthread_atfork", code: registration) }
    }

    private static let registration = runloops_watch_forks()

    /// True if this process is such a child.
    package static var isChild: Bool { runloops_was_forked() }

    /// Ends such a child.
    @inline(__always)
    package static func check(_ member: StaticString) {
        if runloops_was_forked() { refuse(member) }
    }

    @inline(never)
    private static func refuse(_ member: StaticString) -> Never {
        misuse(
            "\(member): used in a forked child, where no loop works; call exec there, or fork before the parent makes its first loop"
        )
    }
}
