internal import Foundation
internal import Notifications
internal import Synchronization

internal import struct Notifications.Notification
internal import class Notifications.NotificationCenter

/// Posts the notifications of Foundation's default center in the default center of this package.
///
/// The forwarding of a name begins when the program first uses the name as a Foundation name: when the program observes the name,
/// or posts a notification with the name. The forwarding of all names begins when the program first registers an observer of every
/// name.
///
/// It would be simpler to observe every name in Foundation's center from the beginning. But if a Foundation center has an observer
/// of every name, and a typed message is posted in that center, Foundation ends the program.
///
/// Nothing is forwarded automatically in the other direction, so no notification comes back to the center that it came from.
final class FoundationForwarder: Sendable {
    static let shared = FoundationForwarder()

    private struct State {
        /// The names that are forwarded one by one, each by an observer of its own in Foundation's center.
        ///
        /// The observer of every name skips these names, so that their notifications are not forwarded twice.
        var names: Set<String> = []
        var forwardsAll = false
    }

    private let state = Mutex(State())

    /// Begins to forward a name; does nothing if it is forwarded already.
    func forward(_ name: Foundation.NSNotification.Name) {
        let isNew = state.withLock { !$0.forwardsAll && $0.names.insert(name.rawValue).inserted }
        // The observer stays for the rest of the process, so its token is not needed.
        if isNew { _ = observe(name) { FoundationForwarder.post($0) } }
    }

    /// Begins to forward all names that are not forwarded already.
    func forwardAll() {
        let names: Set<String>? = state.withLock { state in
            if state.forwardsAll { return nil }
            state.forwardsAll = true
            return state.names
        }
        guard let names else { return }
        _ = observe(nil) { if !names.contains($0.name.rawValue) { FoundationForwarder.post($0) } }
    }

    private func observe(
        _ name: Foundation.NSNotification.Name?,
        _ handler: @escaping @Sendable (Foundation.Notification) -> Void
    ) -> any NSObjectProtocol {
        Foundation.NotificationCenter.default.addObserver(
            forName: name, object: nil, queue: nil, using: handler)
    }

    private static func post(_ notification: Foundation.Notification) {
        NotificationCenter.default.post(
            Notification(
                name: Notification.Name(notification.name), object: notification.object,
                userInfo: notification.userInfo))
    }
}
