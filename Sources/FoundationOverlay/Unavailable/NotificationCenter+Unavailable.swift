public import Notifications
internal import RunLoops

public import struct Notifications.Notification
public import class Notifications.NotificationCenter

/// Members of Foundation's that this package refuses; the message of each says what to write instead.
extension NotificationCenter {
    /// Refused: Swift on Linux has no selectors.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - selector: A selector.
    ///   - name: The name.
    ///   - object: The object.
    @available(
        *, unavailable,
        message:
            "use addObserver(_:name:object:using:) with a closure that takes the observer, or addObserver(forName:object:queue:using:)"
    )
    public func addObserver(_ observer: Any, selector: Any, name: Notification.Name?, object: Any?) {}

    /// Refused: there is no Combine.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - object: The object.
    /// - Returns: Nothing.
    @available(*, unavailable, message: "there is no Combine; iterate over notifications(named:object:)")
    public func publisher(for name: Notification.Name, object: AnyObject? = nil) -> Never {
        misuse("NotificationCenter.publisher: unavailable")
    }
}
