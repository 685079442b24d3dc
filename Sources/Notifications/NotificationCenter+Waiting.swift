public import RunLoops

extension NotificationCenter {
    /// Posts a notification, and waits until the observers on other threads have been called, too.
    ///
    /// A delivery has ended when the handler has returned, when the notification was dropped for lack of room or merged, and
    /// when the observation was removed before the delivery. This thread's own loop does not run meanwhile; observers on it
    /// that are called at once need no wait. If this throws, the notification has been posted all the same.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - deadline: The end of the wait; nil for none. Deliveries under way are completed all the same.
    /// - Throws: ``/RunLoops/PerformError``: the deadline has passed; a loop ended before it delivered; the thread of an
    ///   observer waits for this thread; or a delivery is to be made later on this very thread, when its loop runs, which is
    ///   ``/RunLoops/PerformError/wouldDeadlock``.
    ///
    /// > Thread safety: any thread. Not in asynchronous code.
    @available(
        *, noasync,
        message: "this blocks the thread; call it on a RunLoopThread, whose performAndWait can be awaited"
    )
    public func postAndWait(
        _ notification: Notification, before deadline: ContinuousClock.Instant? = nil
    ) throws(PerformError) {
        let pending = PendingDeliveries()
        var awaited = notification
        awaited.pendingDeliveries = pending
        post(awaited)
        try pending.wait(until: deadline ?? .distantFuture, for: notification)
    }
}
