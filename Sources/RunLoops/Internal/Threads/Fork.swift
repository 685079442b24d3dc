internal import CThreads

/// Refuses to use loops in a child that was forked by a process that had loops.
///
/// The child has one thread only, the one that forked. So no loop's thread serves anything there, and a lock that another
/// thread held is never unlocked. Worse, the kernel's objects are shared with the parent: an event that the child takes out of
/// them is lost to the parent. So every way to a loop checks here first. The check costs one load of a byte, which the parent
/// writes only when a flight recorder begins or ends. A ``Guarded`` value checks only before it waits for its lock, and a
/// ``ForkSafe`` value need not check.
package enum Fork {
    /// Marks the children that this process forks from now on.
    ///
    /// Called for each loop. A process that forks before it has any loop is not affected, and neither is its child.
    package static func watch() throws(SystemError) {
        if registration != 0 { throw SystemError(call: "pthread_atfork", code: registration) }
    }

    private static let registration = runloops_watch_forks()

    /// True if this process is a child that was forked by a process with loops.
    package static var isChild: Bool { runloops_was_forked() }

    /// Ends the program with a message if this process is a child that was forked by a process with loops.
    @inline(__always)
    package static func check(_ member: StaticString) {
        if runloops_process_flags() != 0 { look(member) }
    }

    /// Ends the program with a message if this process is a child that was forked by a process with loops, and not only a
    /// process that records.
    @inline(__always)
    package static func look(_ member: StaticString) { if isChild { refuse(member) } }

    @inline(never)
    private static func refuse(_ member: StaticString) -> Never {
        misuse(
            "\(member): used in a forked child, where no loop works; call exec there, or fork before the parent makes its first loop"
        )
    }
}
