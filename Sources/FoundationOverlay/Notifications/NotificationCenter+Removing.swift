public import Foundation
public import Notifications

public import struct Notifications.Notification
public import class Notifications.NotificationCenter

extension NotificationCenter {
    /// Ends one observation, or all observations of an observing object.
    ///
    /// After this has returned, no call of the handlers starts. Removing an observer twice, or an object that does not observe,
    /// does nothing.
    ///
    /// - Parameter observer: The token that `addObserver` has returned, or the object that was registered.
    ///
    /// > Thread safety: any thread.
    public func removeObserver(_ observer: Any) { removeObserver(observer, name: nil, object: nil) }

    /// Ends one observation, or those observations of an observing object that have the given name and object.
    ///
    /// - Parameters:
    ///   - observer: The token that `addObserver` has returned, or the object that was registered. For a token, the name and the
    ///     object are ignored.
    ///   - name: The name that the object was registered with; nil for any name.
    ///   - object: The object whose notifications the observer was registered for; nil for any object.
    ///
    /// > Thread safety: any thread.
    public func removeObserver(_ observer: Any, name: Notification.Name?, object: Any?) {
        if let token = observer as? ObserverToken { return token.remove() }
        if let token = observer as? ObservationToken { return token.remove() }
        guard let instance = ObjectIdentity.of(observer), !ObjectIdentity.standsForValue(instance) else {
            return
        }
        let sender = ObjectIdentity.of(object)
        removeObservations(
            of: ObjectIdentifier(instance), name: name, sender: sender.map { ObjectIdentifier($0) })
    }

    /// Ends one observation, or those observations of an observing object that have the given Foundation name and object.
    ///
    /// - Parameters:
    ///   - observer: The token that `addObserver` has returned, or the object that was registered. For a token, the name and the
    ///     object are ignored.
    ///   - name: The name that the object was registered with.
    ///   - object: The object whose notifications the observer was registered for; nil for any object.
    ///
    /// > Thread safety: any thread.
    @_disfavoredOverload
    public func removeObserver(_ observer: Any, name: Foundation.NSNotification.Name, object: Any?) {
        removeObserver(observer, name: Notification.Name(name), object: object)
    }
}
