internal import CLibEvent
internal import CMainQueue
internal import CThreads
internal import Dispatch

/// The main dispatch queue, as the main thread's loop serves it: an eventfd that libdispatch writes when the queue has become
/// non-empty, and a function that runs the queued blocks.
///
/// The eventfd is polled edge-triggered and never read: each write is an edge of its own, including one before the first poll.
///
/// > Thread safety: made on any thread, then the loop's own thread only.
final class MainQueue {
    /// The time in nanoseconds after which a loop that is not sleeping polls the kernel for the main queue again.
    ///
    /// A pass has no cheaper way to find out about a block, and must not make a system call of its own for a queue that is
    /// mostly empty. At this interval the calls take a few thousandths of the time.
    static let lookInterval: Int64 = 50_000

    // Properties are destroyed in this order, so an event is freed before its base.
    private var event: Event?
    private let poller: Poller

    /// True if the kernel has reported blocks that have not been served.
    private var isReported = false
    /// True while a block of the queue is on the stack.
    private(set) var isServing = false
    private var nextLook = Moment(nanoseconds: 0)

    /// Lets a poller watch the main queue.
    ///
    /// - Returns: Nil if the main queue cannot be watched.
    /// - Throws: `SystemError` if the kernel refuses.
    init?(watchedBy poller: Poller) throws(SystemError) {
        self.poller = poller
        let handle = runloops_main_queue_handle()
        if handle < 0 { return nil }
        // Safe: the event is freed with this object, and its callback runs only while the poller is asked.
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let event = try unsafe Event(poller.base, handle, EV_READ | EV_ET, context: context) {
            _, _, context in
            guard let context = unsafe context else { return }
            unsafe Unmanaged<MainQueue>.fromOpaque(context).takeUnretainedValue().noteReady()
        }
        try event.watch()
        self.event = consume event
    }

    private func noteReady() { isReported = true }

    /// True if blocks are known to wait and none is on the stack, because blocks must not run inside one another.
    var isReady: Bool { isReported && !isServing }

    /// Runs the blocks that are queued now.
    ///
    /// The main thread only.
    func serve() {
        isReported = false
        isServing = true
        runloops_main_queue_drain()
        isServing = false
        // libdispatch writes to its descriptor when blocks arrive, and again for the blocks that a drain leaves. If a run
        // inside a block has seen the first report, the second is still in the kernel. It is fetched before the queue is served
        // again, because it would report blocks that have run by then.
        if isReported { lookNext() }
    }

    /// Makes the next pass poll the kernel even if it does not sleep, because a run that consists of this one pass must not
    /// miss a block.
    func lookNext() { nextLook = Moment(nanoseconds: 0) }

    /// Returns true if a loop that is not sleeping must poll the kernel now.
    ///
    /// If so, the caller must poll, because this call has already postponed the next poll.
    func isDue(at now: Moment) -> Bool {
        if now < nextLook { return false }
        kernelWasAsked(at: now)
        return true
    }

    /// Records that the loop has polled the kernel for another reason.
    func kernelWasAsked(at now: Moment) { nextLook = now.advanced(by: MainQueue.lookInterval) }
}

extension MainQueue {
    /// True if this libdispatch offers its main queue to a run loop.
    static var isOffered: Bool { runloops_main_queue_is_offered() }

    /// True if the main thread no longer serves the main queue, and never will: `dispatchMain()` was called, or an asynchronous
    /// main has suspended, which does the same.
    static var isGivenAway: Bool {
        // Other threads may run blocks of the queue a moment before the handle is closed.
        isOffered && runloops_main_queue_handle() < 0 || isCurrent && !runloops_is_main_thread()
    }

    /// The key that marks the main queue, for ``isCurrent``.
    private static let mark: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    /// True if the calling code runs on the main queue.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) != nil }

    /// Enqueues a block, which the thread that serves the main queue runs.
    static func perform(_ block: @escaping @Sendable () -> Void) { DispatchQueue.main.async(execute: block) }

    /// True if ``keepMainThread()`` has succeeded.
    ///
    /// Read on the main thread, or after the main thread has ended.
    static var mainThreadWasKept: Bool { runloops_main_thread_was_kept() }

    /// Makes the main loop run on the main thread forever, from the moment at which an asynchronous main suspends.
    ///
    /// - Parameter run: Runs the loop; it never returns.
    /// - Throws: `SystemError` if this Swift runtime or libdispatch offers no way to do this (`ENOTSUP`), or if other code
    ///   already uses that way (`EBUSY`).
    static func keepMainThread(_ run: @convention(c) () -> Void) throws(SystemError) {
        let code = runloops_keep_main_thread(run)
        if code != 0 { throw SystemError(call: "swift_task_asyncMainDrainQueue_hook", code: code) }
    }
}
