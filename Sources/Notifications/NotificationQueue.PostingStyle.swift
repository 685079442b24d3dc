extension NotificationQueue {
    /// The time at which a queue posts a notification.
    ///
    /// The raw values are the same as in Foundation. <doc:PostingLater> defines, for each style, the step of the loop's pass in
    /// which a notification is posted.
    ///
    /// > Thread safety: a value.
    public enum PostingStyle: UInt, Sendable {
        /// The notification is posted when the loop is about to sleep.
        ///
        /// A run that is about to end does not post the notification; the next run posts it.
        case whenIdle = 1
        /// The notification is posted in the current pass, after the pass has called its handlers and before the loop sleeps.
        case asap = 2
        /// The notification is posted immediately.
        case now = 3
    }
}
