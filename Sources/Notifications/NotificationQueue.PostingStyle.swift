extension NotificationQueue {
    /// The time at which a notification is posted.
    ///
    /// The numbers are Foundation's. <doc:PostingLater> defines the step of a pass for each style.
    ///
    /// > Thread safety: a value.
    public enum PostingStyle: UInt, Sendable {
        /// Posts when the loop is about to sleep. A run that is about to end does not post it; the next run does.
        case whenIdle = 1
        /// Posts in the current pass, when the pass has called its handlers and before the loop sleeps.
        case asap = 2
        /// Posts at once.
        case now = 3
    }
}
