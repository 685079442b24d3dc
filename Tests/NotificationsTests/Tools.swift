import Glibc
import RunLoops
import TestSupport
import Testing

@testable import Notifications

extension Notification.Name {
    static let a = Notification.Name("a")
    static let b = Notification.Name("b")
    static let c = Notification.Name("c")
}

extension Notification {
    /// Makes a notification with a text, which distinguishes it from others of its name.
    init(_ name: Name, _ text: String, object: (any AnyObject & Sendable)? = nil) {
        self.init(name: name, object: object, userInfo: ["text": text])
    }

    /// The text of the notification, or its name if it has none.
    var text: String { userInfo["text"] as? String ?? name.rawValue }
}

/// An object that posts notifications, or is their subject.
final class Feed: Sendable {}

/// A center that records its posts.
final class Recorder: Sendable {
    let center = NotificationCenter()
    let log = Log<String>()
    private let token: ObservationToken

    init() {
        token = center.addObserver(forName: nil) { [log] note in log.add(note.text) }
    }

    var texts: [String] { log.entries }
}

extension RunLoop {
    /// Adds an input that is never ready to a mode, so that a run in the mode sleeps instead of finishing.
    func keepAlive(_ mode: Mode = .default) { add(ManualSource {}, forMode: mode) }

    /// Adds an observer of an activity in the default mode.
    func observe(_ activity: Activity, handler: @escaping () -> Void) {
        add(Observer(activities: activity) { _, _ in handler() }, forMode: .default)
    }
}

extension ObserverMap {
    /// The current observations of a key, or nil if it has none.
    func snapshot(for key: Key) -> [Observation]? {
        let observers = observers(of: key, .current)
        if observers.count == 0 { return nil }
        return (0..<observers.count).map { unsafe observers[$0].takeUnretainedValue() }
    }
}

extension Registration {
    /// The observer on a loop, if the observation was registered for one.
    var redirected: RedirectedObserver? { target as? RedirectedObserver }

    /// Blocks until a number of waits for the last call have begun.
    func expectWaits(_ count: Int) {
        let deadline = ContinuousClock.Instant.hang
        let last = redirected?.observation ?? observation
        while last.waiterCount < count {
            if .now > deadline {
                Issue.record("no wait has begun")
                return
            }
            sched_yield()
        }
    }
}
