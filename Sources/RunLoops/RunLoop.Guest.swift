internal import CEventBase

extension RunLoop {
    /// A loop that another main loop of its thread serves, such as GLib's, or an epoll loop of your own.
    ///
    /// A thread has one place to wait. If a foreign main loop, the host, has that place, it serves the thread's run loop as its
    /// guest: the host watches one descriptor, and calls two methods. The guest's timers, ports, sources and blocks are served on
    /// time, and neither loop polls.
    ///
    /// ```swift
    /// let guest = try RunLoop.Guest()
    /// hostWatchesForReading(guest.descriptor)
    /// while true {
    ///     let isReady = guest.prepare()
    ///     hostWaits(timeout: isReady ? 0 : -1)
    ///     if isReady || hostReportsReadable(guest.descriptor) { guest.serve() }
    /// }
    /// ```
    ///
    /// The descriptor also becomes readable when a timer is due, so the host needs no time-out of its own for the guest. Changes
    /// that are made on the loop's thread outside ``serve()``, in a callback of the host, are seen by the next ``prepare()``; so
    /// a host prepares before each wait. If the host never serves the guest, the loop keeps all that it is given: nothing is lost,
    /// and other threads that wait for the loop time out at their deadlines.
    ///
    /// <doc:GuestLoops> shows hosts for epoll and GLib.
    ///
    /// > Thread safety: the loop's own thread only.
    public final class Guest {
        /// The loop that is served.
        public let loop: RunLoop

        /// The mode that the loop is served in.
        public let mode: Mode

        /// The descriptor that is readable while the kernel has something to report to the loop.
        ///
        /// The host only watches it for reading, level-triggered. The descriptor belongs to the loop, which closes it
        /// when the thread ends. The host neither reads nor closes it, and stops watching it before then.
        public let descriptor: CInt

        /// True if ``serve()`` does the work that waits for the loop to be idle, such as notifications that are posted when
        /// idle; true at first.
        ///
        /// A host with work of a low priority of its own can set this to false while that work waits. Idle work then waits, too.
        public var servesIdleWork = true

        /// Prepares the loop of the calling thread to be served by another main loop.
        ///
        /// The loop itself may still be run. There may be several guests for one loop, in different modes.
        ///
        /// - Parameter mode: The mode that the loop is served in; not ``Mode/common``.
        /// - Throws: ``SystemError`` if `/proc/self/fdinfo` cannot be read, because libevent does not tell its descriptor and the
        ///   kernel does.
        public init(mode: Mode = .default) throws(SystemError) {
            if mode == .common {
                misuse(
                    "RunLoop.Guest: .common is a set of modes, not one to serve; serve .default, or a mode of the set"
                )
            }
            loop = .current
            self.mode = mode
            let core = loop.core("RunLoop.Guest", "make the guest on the loop's thread")
            descriptor = try core.poller.findDescriptor(wakeup: core.handle.wakeup.descriptor)
        }

        /// Finds out if the loop has work now; if not, arranges for the descriptor to become readable when it has.
        ///
        /// The host calls this each time before it waits. No handler is called. If the mode holds nothing, there is no work.
        ///
        /// - Returns: True if the loop has work now: the host must not wait, and calls ``serve()``.
        public func prepare() -> Bool {
            core("RunLoop.Guest.prepare").prepareGuest(in: mode, servesIdleWork: servesIdleWork)
        }

        /// Serves the loop once, without waiting.
        ///
        /// This is a run of one pass, with the same steps in the same order as every pass: <doc:OnePass>. Observers are called
        /// as in a run. A pass that finds nothing to serve calls the observers of ``RunLoop/Activity/beforeWaiting`` and does
        /// idle work, as if it were about to sleep. A handler may run the loop itself, but not serve it as a guest.
        ///
        /// Work that does not fit into the budget of a pass waits for the next call; ``prepare()`` returns true until then.
        public func serve() {
            core("RunLoop.Guest.serve").serveGuest(in: mode, servesIdleWork: servesIdleWork)
        }

        /// Finds the host's epoll set, which watches the guest's descriptor at the time of the call.
        ///
        /// For a host that does not tell it. If several sets do, any of them is found.
        ///
        /// - Returns: The set, which belongs to the host.
        /// - Throws: ``SystemError`` if there is none, or `/proc/self/fdinfo` cannot be read.
        package func findHostSet() throws(SystemError) -> CInt {
            try systemCall("open /proc/self/fdinfo") { runloops_find_epoll_set(descriptor, descriptor) }
        }

        private func core(_ member: StaticString) -> LoopCore {
            let core = loop.core(member, "call it on the thread that made the guest")
            if core.runs.depth > 0 {
                misuse(
                    "\(member): called inside a handler of the \(loop); run the loop itself there, or return from the handler first"
                )
            }
            return core
        }
    }
}

@available(*, unavailable)
extension RunLoop.Guest: Sendable {}
