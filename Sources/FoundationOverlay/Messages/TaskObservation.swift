internal import Notifications
internal import RunLoops
internal import Synchronization

/// An observation whose handler runs in tasks, which begin only while the observation continues.
final class TaskObservation: Sendable {
    /// The token; nil before the registration has returned.
    private let token = Mutex<WeakReference?>(nil)

    /// Sets the token, which is not kept alive.
    func begin(_ token: ObservationToken) {
        let token = WeakReference(token)
        self.token.withLock { $0 = token }
    }

    /// True if the token was removed or released.
    var hasEnded: Bool {
        guard let token = token.withLock({ $0 }) else { return false }
        return token.object(as: ObservationToken.self)?.isRemoved ?? true
    }
}
