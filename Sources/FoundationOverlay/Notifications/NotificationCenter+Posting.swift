public import Foundation
public import Notifications

public import struct Notifications.Notification
public import class Notifications.NotificationCenter

extension NotificationCenter {
    /// Makes a notification, and posts it.
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - object: The object that the notification is about, usually its sender.
    ///   - userInfo: Facts about the event.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///
    /// > Thread safety: any thread. The observers are called on the calling thread, except those that have a queue or a loop.
    public func post(
        name: Notification.Name, object: Any?, userInfo: [AnyHashable: Any]? = nil,
        fileID: StaticString = #fileID, line: Int = #line
    ) {
        post(Notification(name: name, object: object, userInfo: userInfo, fileID: fileID, line: line))
    }

    /// Makes a notification with facts whose keys are strings, and posts it.
    ///
    /// The compiler chooses this method for a dictionary literal, as it does the initializer of `Notification` with such facts.
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - object: The object that the notification is about, usually its sender.
    ///   - userInfo: Facts about the event.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///
    /// > Thread safety: any thread. The observers are called on the calling thread, except those that have a queue or a loop.
    public func post(
        name: Notification.Name, object: Any?, userInfo: [String: Any], fileID: StaticString = #fileID,
        line: Int = #line
    ) {
        post(Notification(name: name, object: object, userInfo: userInfo, fileID: fileID, line: line))
    }

    /// Makes a notification, and posts it.
    ///
    /// This overload does not have the parameters `fileID` and `line`. So you can refer to the method without calling it, as
    /// `center.post(name:object:userInfo:)`, and a center can conform to a protocol that requires this method.
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - object: The object that the notification is about, usually its sender.
    ///   - userInfo: Facts about the event.
    ///
    /// > Thread safety: any thread. The observers are called on the calling thread, except those that have a queue or a loop.
    @_disfavoredOverload
    public func post(name: Notification.Name, object: Any?, userInfo: [AnyHashable: Any]?) {
        post(name: name, object: object, userInfo: userInfo, fileID: #fileID, line: #line)
    }

    /// Posts a notification under a Foundation name.
    ///
    /// If this is the default center, it posts the notification in Foundation's default center. From there, the notification is
    /// forwarded once to the observers of this center.
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - object: The object that the notification is about, usually its sender.
    ///   - userInfo: Facts about the event.
    ///
    /// > Thread safety: any thread. The observers are called on the calling thread, except those that have a queue or a loop.
    @_disfavoredOverload
    public func post(
        name: Foundation.NSNotification.Name, object: Any?, userInfo: [AnyHashable: Any]? = nil
    ) {
        guard self === NotificationCenter.default else {
            return post(name: Notification.Name(name), object: object, userInfo: userInfo)
        }
        FoundationForwarder.shared.forward(name)
        Foundation.NotificationCenter.default.post(name: name, object: object, userInfo: userInfo)
    }
}
