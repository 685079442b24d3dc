internal import CThreads

/// Stands for the clock and for sleep on one thread, so that a test decides when time passes and which thread runs.
///
/// A thread that has one reads its time there, asks it where it would sleep or wait, and gives one to each thread that it
/// starts. All others pay one load for it, where they read the clock or are about to sleep.
///
/// > Thread safety: what is called, is called on the thread that it is for; ``makeThread`` on the one that starts it, and
/// > so is ``threadEnds`` if there is no thread.
package final class ThreadDriver: Sendable {
    /// Where a thread waits.
    package enum Place {
        /// In a run of its loop, inside so many others.
        case sleep(depth: Int)
        /// For another thread.
        case gate
    }

    /// What time it is.
    let now: @Sendable () -> ContinuousClock.Instant
    /// Returns when the time has come, or what is asked says that the wait is over; it may be asked any number of times.
    let wait: @Sendable (ContinuousClock.Instant, Place, () -> Bool) -> Void
    /// Makes the driver of a thread that is about to be started, with its name.
    let makeThread: @Sendable (String) -> ThreadDriver
    /// The thread is there: returns when it may go on.
    let threadBegins: @Sendable () -> Void
    /// The thread has its loop, as ``RunLoop/existing``, which does not run yet.
    let loopBegins: @Sendable () -> Void
    /// The thread ends, or there is none.
    let threadEnds: @Sendable () -> Void

    package init(
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        wait: @escaping @Sendable (ContinuousClock.Instant, Place, () -> Bool) -> Void,
        makeThread: @escaping @Sendable (String) -> ThreadDriver,
        threadBegins: @escaping @Sendable () -> Void, loopBegins: @escaping @Sendable () -> Void,
        threadEnds: @escaping @Sendable () -> Void
    ) {
        self.now = now
        self.wait = wait
        self.makeThread = makeThread
        self.threadBegins = threadBegins
        self.loopBegins = loopBegins
        self.threadEnds = threadEnds
    }

    /// Whether the calling thread has one.
    @inline(__always)
    static var isPresent: Bool { unsafe runloops_thread_driver() != nil }

    /// The calling thread's, if it has one.
    @inline(__always)
    package static var current: ThreadDriver? {
        // Safe: the slot holds the reference of `begin`, and this thread alone empties it.
        guard let known = unsafe runloops_thread_driver() else { return nil }
        return unsafe Unmanaged<ThreadDriver>.fromOpaque(known).takeUnretainedValue()
    }

    /// Drives the calling thread from now on.
    package func begin() {
        unsafe runloops_thread_set_driver(Unmanaged.passRetained(self).toOpaque())
        threadBegins()
    }

    /// Does so no more.
    package func end() {
        // Safe: takes back the reference of `begin`.
        guard let known = unsafe runloops_thread_driver() else { return }
        runloops_thread_set_driver(nil)
        threadEnds()
        unsafe Unmanaged<ThreadDriver>.fromOpaque(known).release()
    }
}
