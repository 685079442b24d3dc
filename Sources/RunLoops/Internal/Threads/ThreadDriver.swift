internal import CRunLoops

/// A replacement for the clock and for sleep on one thread, so that a simulation decides when time passes and which thread runs.
///
/// A thread with a driver reads the time from the driver, and calls the driver where it would otherwise sleep or wait. When such a
/// thread starts another thread, it makes a driver for that thread. On a thread without a driver, each reading of the clock and
/// each sleep costs one additional load from memory.
///
/// > Thread safety: each closure is called on the thread of the driver. There is one exception: if that thread could not be
/// > started, ``threadEnds`` is called on the thread that tried to start it.
package final class ThreadDriver: Sendable {
    /// The kind of wait in which a thread blocks.
    package enum Place {
        /// The thread's loop sleeps. `depth` is the number of outer runs that its current run is nested in.
        case sleep(depth: Int)
        /// The thread waits at a ``ThreadGate`` until another thread opens the gate.
        case gate
    }

    /// The name of the thread, which is the same in two runs of a simulation.
    let name: String
    /// Returns the present time of the simulation's clock.
    let now: @Sendable () -> ContinuousClock.Instant
    /// Returns the present time of the simulation's wall clock, since 1970.
    let timeSince1970: @Sendable () -> Duration
    /// Registers a closure that the simulation calls, on any thread, when its wall clock was set; the closure returns false if it
    /// must not be called again.
    let watchWallClock: @Sendable (@escaping @Sendable () -> Bool) -> Void
    /// Blocks the thread until a time, or until the condition is true.
    ///
    /// The closure can check the condition any number of times.
    let wait: @Sendable (ContinuousClock.Instant, Place, () -> Bool) -> Void
    /// Makes the driver of a thread that is about to be started, from the thread's name.
    let makeThread: @Sendable (String) -> ThreadDriver
    /// Called when the thread has started.
    ///
    /// The closure blocks until the simulation allows the thread to continue.
    let threadBegins: @Sendable () -> Void
    /// Called on the thread after its loop was made, before the loop first runs.
    ///
    /// During the call, ``RunLoop/existing`` returns the loop.
    let loopBegins: @Sendable () -> Void
    /// Called when the thread ends, or if the thread could not be started.
    let threadEnds: @Sendable () -> Void

    package init(
        name: String, now: @escaping @Sendable () -> ContinuousClock.Instant,
        timeSince1970: @escaping @Sendable () -> Duration,
        watchWallClock: @escaping @Sendable (@escaping @Sendable () -> Bool) -> Void,
        wait: @escaping @Sendable (ContinuousClock.Instant, Place, () -> Bool) -> Void,
        makeThread: @escaping @Sendable (String) -> ThreadDriver,
        threadBegins: @escaping @Sendable () -> Void, loopBegins: @escaping @Sendable () -> Void,
        threadEnds: @escaping @Sendable () -> Void
    ) {
        self.name = name
        self.now = now
        self.timeSince1970 = timeSince1970
        self.watchWallClock = watchWallClock
        self.wait = wait
        self.makeThread = makeThread
        self.threadBegins = threadBegins
        self.loopBegins = loopBegins
        self.threadEnds = threadEnds
    }

    /// True if the calling thread has a driver.
    @inline(__always)
    static var isPresent: Bool { unsafe runloops_thread_driver() != nil }

    /// The driver of the calling thread, if it has one.
    @inline(__always)
    package static var current: ThreadDriver? {
        // Safe: the slot holds the reference that `begin` stored, and only this thread clears the slot.
        guard let known = unsafe runloops_thread_driver() else { return nil }
        return unsafe Unmanaged<ThreadDriver>.fromOpaque(known).takeUnretainedValue()
    }

    /// Makes this object the driver of the calling thread.
    package func begin() {
        unsafe runloops_thread_set_driver(Unmanaged.passRetained(self).toOpaque())
        threadBegins()
    }

    /// Removes this object as the driver of the calling thread.
    package func end() {
        // Safe: this takes over the reference that `begin` stored.
        guard let known = unsafe runloops_thread_driver() else { return }
        runloops_thread_set_driver(nil)
        threadEnds()
        unsafe Unmanaged<ThreadDriver>.fromOpaque(known).release()
    }
}
