public import Foundation
public import Notifications

public import struct Notifications.Notification
public import class Notifications.NotificationCenter

extension NotificationCenter {
    /// Returns a sequence of notifications to await.
    ///
    /// Notifications that arrive while the task is busy are kept, however many there are.
    ///
    /// - Parameters:
    ///   - name: The name to observe.
    ///   - object: The object whose notifications to observe; nil for notifications with any object and with none.
    /// - Returns: The sequence.
    ///
    /// > Thread safety: any thread.
    public func notifications(
        named name: Notification.Name, object: (any AnyObject & Sendable)? = nil
    ) -> ObservationSequence<Notification> {
        notifications(named: name, object: object, bufferingPolicy: .unbounded)
    }

    /// Returns a sequence of notifications of a name of Foundation's to await.
    ///
    /// - Parameters:
    ///   - name: The name to observe.
    ///   - object: The object whose notifications to observe; nil for notifications with any object and with none.
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
