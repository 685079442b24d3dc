internal import CLibEvent
internal import CMainQueue
internal import CThreads
internal import Dispatch

/// The main dispatch queue, as the main thread's loop sees it: an eventfd that libdispatch writes when the queue
/// has become non-empty, and a function that runs what is in it.
///
/// The eventfd is polled edge-triggered and never read: each write is an edge of its own, also one that came before
/// the first poll.
///
/// > Thread safety: made on any thread, then the loop's own thread only.
final class MainQueue {
    /// How long a loop that does not sleep may go without asking the kernel for the main queue, in nanoseconds.
    ///
    /// A pass has no cheaper way to learn of a block, and must not make a system call of its own for a queue that is
    /// mostly empty: at this interval the calls are a few thousandths of the time.
    static let lookInterval: Int64 = 50_000

    // In this order, because they are destroyed in it: an event is freed before its base.
    private var event: Event?
    private let poller: Poller

    /// The kernel has reported blocks, and they have not been served.
    private var isReported = false
    /// A block of the queue is on the stack, or several.
    private(set) var isServing = false
    private var nextLook = Moment(nanoseconds: 0)

    /// Has a poller watch the main queue.
    ///
    /// - Returns: Nil if the main queue is out of reach.
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

    /// Whether blocks wait, as far as is known, and may run: not inside another one.
    var isReady: Bool { isReported && !isServing }

    /// Runs the blocks that are there now.
    ///
    /// The main thread only.
    func serve() {
        isReported = false
        isServing = true
        runloops_main_queue_drain()
        isServing = false
        // libdispatch reports blocks by writing to its descriptor: once when they come, and again for those that a drain
        // leaves. If a run inside a block has seen the first report, the second is still in the kernel. It is fetched
        // before the next serving, or it would announce blocks that are gone by then.
        if isReported { lookNext() }
    }

    /// Has the next pass ask the kernel, whether it sleeps or not: one that a run consists of must not miss a block.
    func lookNext() { nextLook = Moment(nanoseconds: 0) }

    /// Whether a loop that does not sleep is to ask the kernel now, and then does.
    func isDue(at now: Moment) -> Bool {
        if now < nextLook { return false }
        kernelWasAsked(at: now)
        return true
    }

    /// Notes that a loop has asked the kernel anyway.
    func kernelWasAsked(at now: Moment) { nextLook = now.advanced(by: MainQueue.lookInterval) }
}

extension MainQueue {
    /// Whether this libdispatch lets a run loop serve its main queue.
    static var isOffered: Bool { runloops_main_queue_is_offered() }

    /// Whether the main thread serves the main queue no more, and never will again: somebody has called `dispatchMain()`,
    /// or an asynchronous main has done so by suspending.
    static var isGivenAway: Bool {
        // Other threads may run the queue's blocks a moment before the handle goes.
        isOffered && runloops_main_queue_handle() < 0 || isCurrent && !runloops_is_main_thread()
    }

    /// Marks the main queue, for ``isCurrent``.
    private static let mark: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    /// Whether the calling code runs on the main queue.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) != nil }

    /// Has a block run by whoever serves the main queue.
    static func perform(_ block: @escaping @Sendable () -> Void) { DispatchQueue.main.async(execute: block) }

    /// Whether ``keepMainThread()`` has succeeded; asked on the main thread, or when that is gone.
    static var mainThreadWasKept: Bool { runloops_main_thread_was_kept() }

    /// Has the main loop run on the main thread for ever, from the moment at which an asynchronous main suspends.
    ///
    /// - Parameter run: Runs the loop; it never returns.
    /// - Throws: `SystemError` if this Swift runtime or libdispatch offers no way to (`ENOTSUP`), or if other code has taken
    ///   it (`EBUSY`).
    static func keepMainThread(_ run: @convention(c) () -> Void) throws(SystemError) {
        let code = runloops_keep_main_thread(run)
        if code != 0 { throw SystemError(call: "swift_task_asyncMainDrainQueue_hook", code: code) }
    }
}
