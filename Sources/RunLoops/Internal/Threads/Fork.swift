internal import CRunLoops

/// Ends the program with a message if it uses a loop in a child that was forked by a process with loops.
///
/// Such a child has only one thread, the thread that forked. So no other loop runs there, and a lock that another thread held is
/// never unlocked. The child also shares the kernel's objects with the parent: if the child took an event from them, the parent
/// would lose the event.
///
/// So every public member that uses a loop calls this check first. The check loads one byte. The parent writes this byte only when
/// a flight recorder begins or ends. A ``Guarded`` value checks only before it waits for its lock, and a ``ForkSafe`` value need
/// not check.
package enum Fork {
    /// Marks every child that this process forks from now on, so that ``isChild`` is true there.
    ///
    /// Each new loop calls this. If a process forks before it has a loop, neither the process nor its child is affected.
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

    /// Does the same as ``check(_:)``, without testing the process's flags first.
    ///
    /// Call this if you already know that a flag is set. If only flags of the flight recorder are set, this function does nothing.
    @inline(__always)
    package static func look(_ member: StaticString) { if isChild { refuse(member) } }

    @inline(never)
    private static func refuse(_ member: StaticString) -> Never {
        misuse(
            "\(member): used in a forked child, where no loop works; call exec there, or fork before the parent makes its first loop"
        )
    }
}
