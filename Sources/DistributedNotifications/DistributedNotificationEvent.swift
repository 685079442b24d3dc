/// An event that an observer gets: a notification, or the notice that notifications are missing.
///
/// > Thread safety: a value.
public enum DistributedNotificationEvent: Hashable, Sendable {
    /// A notification.
    case notification(DistributedNotification)
    /// Notifications of one poster are missing: reload the data that they were about.
    case gap(DistributedNotificationGap)
}
