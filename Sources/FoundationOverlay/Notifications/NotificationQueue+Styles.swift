public import Notifications
public import RunLoops

public import struct Notifications.Notification
public import class Notifications.NotificationQueue
public import class RunLoops.RunLoop

extension NotificationQueue {
    /// Enqueues a notification for the default mode.
    ///
    /// If a notification with the same name and sender already waits in the queue, `notification` is ignored. However, with
    /// `PostingStyle.now`, the waiting notification is removed, and `notification` is posted.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - postingStyle: The time at which the notification is posted.
    ///
    /// > Thread safety: any thread.
    @_disfavoredOverload
    public func enqueue(_ notification: Notification, postingStyle: PostingStyle) {
        let _: Bool = enqueue(
            notification, postingStyle: postingStyle, coalesceMask: [.onName, .onSender], keeping: .first)
    }

    /// Enqueues a notification.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - postingStyle: The time at which the notification is posted.
    ///   - coalesceMask: The properties that two notifications must share to match. Of several notifications that match, the first
    ///     is posted. However, with `PostingStyle.now`, all matching notifications are removed from the queue, and `notification`
    ///     is posted.
    ///   - modes: The modes in which the notification may be posted, at least one; nil for the default mode.
    ///
    /// > Thread safety: any thread.
    @_disfavoredOverload
    public func enqueue(
        _ notification: Notification, postingStyle: PostingStyle, coalesceMask: NotificationCoalescing,
        forModes modes: [RunLoop.Mode]?
    ) {
        let _: Bool = enqueue(
            notification, postingStyle: postingStyle, coalesceMask: coalesceMask, keeping: .first,
            forModes: modes)
    }

    /// Removes matching notifications from the queue without posting them.
    ///
    /// - Parameters:
    ///   - notification: The notification to compare with.
    ///   - coalesceMask: The raw value of a `NotificationCoalescing`: the properties that two notifications must share to match.
    ///
    /// > Thread safety: any thread.
    @_disfavoredOverload
    public func dequeueNotifications(matching notification: Notification, coalesceMask: Int) {
        dequeueNotifications(
            matching: notification,
            coalesceMask: NotificationCoalescing(rawValue: UInt(truncatingIfNeeded: coalesceMask)))
    }
}

extension NotificationQueue.NotificationCoalescing {
    /// The empty mask, with which no two notifications match.
    public static var none: NotificationQueue.NotificationCoalescing { [] }
}
