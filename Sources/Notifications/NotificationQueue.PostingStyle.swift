extension NotificationQueue {
    /// The time at which a notification is posted.
    ///
    /// The raw values are the same as in Foundation. <doc:PostingLater> defines the step of a pass in which each style posts.
    ///
    /// > Thread safety: a value.
    public enum PostingStyle: UInt, Sendable {
        /// Posts the notification when the loop is about to sleep.
        ///
        /// A run that is about to end does not post the notification; the next run posts it.
        case whenIdle = 1
        /// Posts the notification in the current pass, after the pass has called its handlers and before the loop sleeps.
        case asap = 2
        /// Posts the notification at once.
        case now = 3
    }
}
