public import Foundation
public import Notifications

public import struct Notifications.Notification
public import class Notifications.NotificationCenter

extension NotificationCenter {
    /// Registers a handler that is called in an operation queue, or on the posting thread.
    ///
    /// If the handler is called in a queue, the post waits until the handler has returned. The observation continues until the
    /// token is passed to `removeObserver(_:)` or the center is destroyed; the token need not be kept.
    ///
    /// - Parameters:
    ///   - name: The name to observe; nil for every name.
    ///   - object: The object whose notifications to observe: an instance of a class is compared by identity, a hashable value by
    ///     equality. Nil for notifications with any object, or without one. The center does not keep an instance alive, and does
    ///     not call the handler after the instance has been destroyed.
    ///   - queue: The queue; nil for the posting thread.
    ///   - block: Called with each notification.
    /// - Returns: A token, with which `removeObserver(_:)` ends the observation.
    ///
    /// > Thread safety: any thread.
    @_disfavoredOverload @discardableResult
    public func addObserver(
        forName name: Notification.Name?, object: Any?, queue: OperationQueue?,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol & Sendable {
        guard let queue else { return observe(name, object, block) }
        return observe(name, object) { HandlerQueue.call(block, with: $0, in: queue) }
    }

    /// Registers a handler that is called on the main actor.
    ///
    /// A post on another thread waits until the main thread has called the handler.
    ///
    /// - Parameters:
    ///   - name: The name to observe; nil for every name.
    ///   - object: The object whose notifications to observe, as for the method that takes an `OperationQueue`.
    ///   - queue: `.main`.
    ///   - block: Called with each notification.
    /// - Returns: A token, with which `removeObserver(_:)` ends the observation.
    ///
    /// > Thread safety: any thread.
    @discardableResult
    public func addObserver(
        forName name: Notification.Name?, object: Any?, queue: MainOperationQueue,
        using block: @escaping @MainActor (Notification) -> Void
    ) -> any NSObjectProtocol & Sendable {
        observe(name, object) { HandlerQueue.callOnMainActor(block, with: $0) }
    }

    /// Registers a handler for a Foundation name.
    ///
    /// The default center also calls the handler for notifications that Foundation's default center posts under the name.
    ///
    /// - Parameters:
    ///   - name: The name to observe.
    ///   - object: The object whose notifications to observe, as in the method for a `Notification.Name`.
    ///   - queue: The queue; nil for the posting thread.
    ///   - block: Called with each notification.
    /// - Returns: A token, with which `removeObserver(_:)` ends the observation.
    ///
    /// > Thread safety: any thread.
    @_disfavoredOverload @discardableResult
    public func addObserver(
        forName name: Foundation.NSNotification.Name, object: Any?, queue: OperationQueue?,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol & Sendable {
        if self === NotificationCenter.default { FoundationForwarder.shared.forward(name) }
        return addObserver(forName: Notification.Name(name), object: object, queue: queue, using: block)
    }

    /// Registers a handler, called on the main actor, for a Foundation name.
    ///
    /// The default center also calls the handler for notifications that Foundation's default center posts under the name.
    ///
    /// - Parameters:
    ///   - name: The name to observe.
    ///   - object: The object whose notifications to observe, as in the method for a `Notification.Name`.
    ///   - queue: `.main`.
    ///   - block: Called with each notification.
    /// - Returns: A token, with which `removeObserver(_:)` ends the observation.
    ///
    /// > Thread safety: any thread.
    @discardableResult
    public func addObserver(
        forName name: Foundation.NSNotification.Name, object: Any?, queue: MainOperationQueue,
        using block: @escaping @MainActor (Notification) -> Void
    ) -> any NSObjectProtocol & Sendable {
        if self === NotificationCenter.default { FoundationForwarder.shared.forward(name) }
        return addObserver(forName: Notification.Name(name), object: object, queue: queue, using: block)
    }

    /// Registers a handler for a name and an object; the object can be a value of any type.
    private func observe(
        _ name: Notification.Name?, _ object: Any?, _ handler: @escaping @Sendable (Notification) -> Void
    ) -> ObserverToken {
        if name == nil, self === NotificationCenter.default { FoundationForwarder.shared.forwardAll() }
        guard let object, let identity = ObjectIdentity.of(object) else {
            return ObserverToken(addUnownedObserver(forName: name, object: nil, using: handler))
        }
        if !ObjectIdentity.standsForValue(identity) {
            return ObserverToken(addUnownedObserver(forName: name, object: identity, using: handler))
        }
        // `object` is a value here. `identity` is the instance that stands for the value in comparisons, and the handler keeps it
        // alive. An instance of a class stands for itself, and the code above does not keep it alive.
        return ObserverToken(
            addUnownedObserver(forName: name, object: identity) { notification in
                withExtendedLifetime(identity) { handler(notification) }
            })
    }
}
