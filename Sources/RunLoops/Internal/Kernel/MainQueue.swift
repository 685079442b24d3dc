internal import CLibEvent
internal import CRunLoops
internal import Dispatch

/// The main dispatch queue, as the main thread's loop serves it.
///
/// libdispatch offers an eventfd, to which it writes when the queue becomes non-empty, and a function that runs the queued blocks.
/// The eventfd is polled edge-triggered and never read: each write is a separate edge, even a write before the first poll.
///
/// > Thread safety: the initializer on any thread, then the loop's own thread only.
final class MainQueue {
    /// The interval, in nanoseconds, at which an awake loop polls the kernel to find out if the main queue has blocks.
    ///
    /// Each poll is a system call. A call in each pass would cost too much, because the queue is usually empty. At this interval,
    /// the calls take a few thousandths of the loop's time.
    static let lookInterval: Int64 = 50_000

    // Properties are destroyed in this order, so an event is freed before its base.
    private var event: Event?
    private let poller: Poller

    /// True if the kernel has reported that the queue has blocks, and the loop has not begun to run them.
    private var isReported = false
    /// True while the loop runs blocks of the queue.
    private(set) var isServing = false
    private var nextLook = Moment(nanoseconds: 0)

    /// Begins to watch the main queue with a poller.
    ///
    /// - Returns: Nil if libdispatch offers no eventfd for the queue.
    /// - Throws: `SystemError` if the kernel refuses.
    init?(watchedBy poller: Poller) throws(SystemError) {
        self.poller = poller
        let handle = runloops_main_queue_handle()
        if handle < 0 { return nil }
        // Safe: the event is freed with this object, and its callback runs only inside the poller's calls.
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

    /// True if the kernel has reported blocks, and the loop is not running blocks of the queue already.
    ///
    /// Blocks of the queue must not run inside one another.
    var isReady: Bool { isReported && !isServing }

    /// Runs the queued blocks.
    ///
    /// Only the main thread may call this.
    func serve() {
        isReported = false
        isServing = true
        runloops_main_queue_drain()
        isServing = false
        // libdispatch writes to its descriptor when blocks arrive, and writes again if a drain leaves blocks. If a block has run
        // the loop, that run can have fetched the report of the first write, while the report of the second is still in the
        // kernel. The loop fetches the second report before it serves the queue again. Otherwise the report would later announce
        // blocks that have already run.
        if isReported { lookNext() }
    }

    /// Makes the next pass poll the kernel, even if the pass does not sleep.
    ///
    /// Otherwise a run of only one pass could miss a block of the main queue.
    func lookNext() { nextLook = Moment(nanoseconds: 0) }

    /// Returns true if a loop that is not sleeping must poll the kernel now.
    ///
    /// If the result is true, the caller must poll, because this call has already postponed the next poll.
    func isDue(at now: Moment) -> Bool {
        if now < nextLook { return false }
        kernelWasAsked(at: now)
        return true
    }

    /// Records that the kernel was polled, so that the next poll for the queue is not due before ``lookInterval`` has passed.
    func kernelWasAsked(at now: Moment) { nextLook = now.advanced(by: MainQueue.lookInterval) }
}

extension MainQueue {
    /// True if this version of libdispatch lets a run loop serve the main queue.
    static var isOffered: Bool { runloops_main_queue_is_offered() }

    /// True if the main thread will never serve the main queue again.
    ///
    /// This is so after `dispatchMain()` was called, or after an asynchronous main has suspended, which has the same effect.
    static var isGivenAway: Bool {
        // The second condition is for the short time before libdispatch closes the handle of the queue, when other threads can
        // already run blocks of the queue.
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

    /// Enqueues a block on the main queue.
    static func perform(_ block: @escaping @Sendable () -> Void) { DispatchQueue.main.async(execute: block) }

    /// True if ``keepMainThread(_:)`` has succeeded.
    ///
    /// Read this on the main thread, or after the main thread has ended.
    static var mainThreadWasKept: Bool { runloops_main_thread_was_kept() }

    /// Makes the main loop run on the main thread forever, beginning when an asynchronous `main` suspends.
    ///
    /// - Parameter run: The function that runs the loop; it never returns.
    /// - Throws: `SystemError` if this Swift runtime or libdispatch has no hook for this (`ENOTSUP`), or if other code already uses
    ///   the hook (`EBUSY`).
    static func keepMainThread(_ run: @convention(c) () -> Void) throws(SystemError) {
        let code = runloops_keep_main_thread(run)
        if code != 0 { throw SystemError(call: "swift_task_asyncMainDrainQueue_hook", code: code) }
    }
}
