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

    /// Ends an observation, or the observations of an observer for a name and an object.
    ///
    /// - Parameters:
    ///   - observer: The token that `addObserver` has returned, whose observation ends regardless of the name and object; or the
    ///     object that was registered.
    ///   - name: The name that the object was registered with; nil for any name.
    ///   - object: The object whose notifications the observer was registered for; nil for any object.
    ///
    /// > Thread safety: any thread.
    public func removeObserver(_ observer: Any, name: Notification.Name?, object: Any?) {
        if let token = observer as? ObserverToken { return token.remove() }
        if let token = observer as? ObservationToken { return token.remove() }
        guard type(of: observer) is AnyClass else { return }
        let sender = ObjectIdentity.of(object)
        removeObservations(
            of: ObjectIdentifier(observer as AnyObject), name: name,
            sender: sender.map { ObjectIdentifier($0) })
    }

    /// Ends the observation of a token, or an observer's observations of one of Foundation's names.
    ///
    /// - Parameters:
    ///   - observer: The token that `addObserver` has returned, or the object that was registered.
    ///   - name: The name that the object was registered with.
    ///   - object: The object whose notifications the observer was registered for; nil for any object.
    ///
    /// > Thread safety: any thread.
    @_disfavoredOverload
    public func removeObserver(_ observer: Any, name: Foundation.NSNotification.Name, object: Any?) {
        removeObserver(observer, name: Notification.Name(name), object: object)
    }
}
