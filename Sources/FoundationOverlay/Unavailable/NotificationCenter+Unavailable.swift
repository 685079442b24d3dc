public import Notifications
internal import RunLoops

public import struct Notifications.Notification
public import class Notifications.NotificationCenter

/// Members of Foundation's notification center that this package refuses; the compiler's message for each says what to write
/// instead.
extension NotificationCenter {
    /// Unavailable: Swift on Linux has no selectors.
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

    /// Unavailable: Linux has no Combine.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - object: The object.
    /// - Returns: Nothing.
    @available(
        *, unavailable,
        message:
            "there is no Combine; iterate over notifications(named:object:), or import RunLoopsOpenCombine, which has the publishers of OpenCombine for this package"
    )
    public func publisher(for name: Notification.Name, object: AnyObject? = nil) -> Never {
        misuse("NotificationCenter.publisher: unavailable")
    }

    /// Unavailable: OpenCombineFoundation extends Foundation's center.
    @available(
        *, unavailable,
        message:
            "OpenCombineFoundation extends Foundation's center; import RunLoopsOpenCombine in its place, or write Foundation.NotificationCenter"
    )
    public var ocombine: Never { misuse("NotificationCenter.ocombine: unavailable") }

    /// Unavailable: ReactiveSwift and other libraries extend Foundation's center.
    @available(
        *, unavailable,
        message: "the library extends Foundation's center; write Foundation.NotificationCenter in front of it"
    )
    public var reactive: Never { misuse("NotificationCenter.reactive: unavailable") }
}
