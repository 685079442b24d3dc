public import Foundation
public import Notifications

public import struct Notifications.Notification
public import class Notifications.NotificationCenter

extension NotificationCenter {
    /// Returns an asynchronous sequence of notifications.
    ///
    /// Notifications that arrive while the task is busy are buffered, however many there are.
    ///
    /// - Parameters:
    ///   - name: The name to observe.
    ///   - object: The object whose notifications to observe; nil for notifications with any object, or without one.
    /// - Returns: The sequence.
    ///
    /// > Thread safety: any thread.
    public func notifications(
        named name: Notification.Name, object: (any AnyObject & Sendable)? = nil
    ) -> ObservationSequence<Notification> {
        notifications(named: name, object: object, bufferingPolicy: .unbounded)
    }

    /// Returns an asynchronous sequence of the notifications whose name is a `Foundation.NSNotification.Name`.
    ///
    /// - Parameters:
    ///   - name: The name to observe.
    ///   - object: The object whose notifications to observe; nil for notifications with any object, or without one.
    /// - Returns: The sequence.
    ///
    /// > Thread safety: any thread.
    @_disfavoredOverload
    public func notifications(
        named name: Foundation.NSNotification.Name, object: (any AnyObject & Sendable)? = nil
    ) -> ObservationSequence<Notification> {
        if self === NotificationCenter.default { FoundationForwarder.shared.forward(name) }
        return notifications(named: Notification.Name(name), object: object, bufferingPolicy: .unbounded)
    }
}
