internal import CRunLoops

extension RunLoop {
    /// A run loop that is served by another main loop of its thread, such as GLib's main loop or your own epoll loop.
    ///
    /// A thread can wait in only one loop. If it waits in a foreign main loop, the *host*, that loop serves the thread's run loop
    /// as its *guest*: the host watches one descriptor, and calls two methods. The guest's timers, ports, sources and blocks are
    /// served on time, and neither loop polls.
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
    /// The descriptor also becomes readable when a timer is due, so the host needs no time-out for the guest. Call ``prepare()``
    /// before each wait of the host, because the host's callbacks can change the loop outside ``serve()``. While the host does not
    /// serve the guest, the loop keeps all its work. If another thread waits for the loop in the meantime, that wait times out at
    /// its deadline.
    ///
    /// <doc:GuestLoops> shows hosts for epoll and GLib.
    ///
    /// > Thread safety: the loop's own thread only.
    public final class Guest {
        /// The loop that the host serves.
        public let loop: RunLoop

        /// The mode that the host serves the loop in.
        public let mode: Mode

        /// The descriptor that is readable while the kernel has an event for the loop.
        ///
        /// The host watches the descriptor for reading, level-triggered, and neither reads nor closes it. The loop owns the
        /// descriptor, and closes it when the thread ends. The host must stop watching the descriptor before that.
        public let descriptor: CInt

        /// True if ``serve()`` also does idle work, such as posting notifications that wait for an idle loop; true by default.
        ///
        /// A host that has its own work of low priority can set this to false while that work waits. The guest's idle work then
        /// waits, too.
        public var servesIdleWork = true

        /// Prepares the loop of the calling thread to be served by another main loop.
        ///
        /// The thread can still run the loop itself. A loop can have several guests, in different modes.
        ///
        /// - Parameter mode: The mode that the host serves the loop in; not ``Mode/common``.
        /// - Throws: ``SystemError`` if `/proc/self/fdinfo` cannot be read. The initializer searches this directory for the epoll
        ///   descriptor of libevent, because libevent has no function that returns it.
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

        /// Returns true if the loop has work now, and otherwise makes the descriptor readable as soon as the loop has work.
        ///
        /// Call this before each wait of the host. The method calls no handler. In an empty mode there is no work.
        ///
        /// - Returns: True if the loop has work now. The host then calls ``serve()`` without waiting.
        public func prepare() -> Bool {
            core("RunLoop.Guest.prepare").prepareGuest(in: mode, servesIdleWork: servesIdleWork)
        }

        /// Serves the loop once, without waiting.
        ///
        /// This is a run of one pass, with the same steps in the same order as every pass: <doc:OnePass>. Observers are called as
        /// in a run. A pass that finds no work calls the observers of ``RunLoop/Activity/beforeWaiting`` and does idle work, like a
        /// pass before a sleep. A handler may run the loop, but must not call `serve()`.
        ///
        /// A pass serves a limited amount of work. The rest waits for the next call; ``prepare()`` returns true until then.
        public func serve() {
            core("RunLoop.Guest.serve").serveGuest(in: mode, servesIdleWork: servesIdleWork)
        }

        /// Finds the host's epoll set, which watches the guest's descriptor at the time of the call.
        ///
        /// Use this if the host has no function that returns its epoll set. If several epoll sets watch the descriptor, the call
        /// returns any of them.
        ///
        /// - Returns: The epoll set, which belongs to the host.
        /// - Throws: ``SystemError`` if no epoll set watches the descriptor, or `/proc/self/fdinfo` cannot be read.
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
