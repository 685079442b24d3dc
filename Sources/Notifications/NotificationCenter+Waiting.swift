public import RunLoops

extension NotificationCenter {
    /// Posts a notification, and waits until the observers on other threads have been called too.
    ///
    /// The wait for a delivery ends when the handler has returned, when the notification has been dropped for lack of room or
    /// merged with another notification, or when the observation has been removed before the delivery. The calling thread's own
    /// loop does not run during the wait. If the post itself calls an observer on that loop, no wait for this observer follows.
    /// Even if this method throws, the notification has been posted.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - deadline: The latest time at which the wait ends; nil for no deadline. Deliveries that are under way at that time are
    ///     still completed.
    /// - Throws: ``/RunLoops/PerformError`` if the deadline has passed, if a loop ended before it delivered the notification,
    ///   or if the thread of an observer waits for this thread. The error is ``/RunLoops/PerformError/Reason/wouldDeadlock`` if a
    ///   delivery waits for the calling thread's own loop, which does not run during the wait.
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
