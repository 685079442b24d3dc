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
    /// Makes a notification that a test can distinguish from others of its name.
    init(_ name: Name, _ text: String, object: (any AnyObject & Sendable)? = nil) {
        self.init(name: name, object: object, userInfo: ["text": text])
    }

    /// The text that it was made with, or else its name.
    var text: String { userInfo["text"] as? String ?? name.rawValue }
}

/// An object that posts notifications, or that they are about.
final class Feed: Sendable {}

/// A center, and a record of the posts to it.
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
    /// Gives a mode an input that is never ready, so that a run in it sleeps where it would finish.
    func keepAlive(_ mode: Mode = .default) { add(ManualSource {}, forMode: mode) }

    /// Has a handler called at certain moments of runs in the default mode.
    func observe(_ activity: Activity, handler: @escaping () -> Void) {
        add(Observer(activities: activity) { _, _ in handler() }, forMode: .default)
    }
}

extension ObserverMap {
    /// The observations of a key as they are now, or nil if it has none.
    func snapshot(for key: Key) -> [Observation]? {
        let observers = observers(of: key, .current)
        if observers.count == 0 { return nil }
        return (0..<observers.count).map { unsafe observers[$0].takeUnretainedValue() }
    }
}

extension Registration {
    /// The observer on a loop, if the observation was registered for one.
    var redirected: RedirectedObserver? { target as? RedirectedObserver }

    /// Blocks until so many waits for the last call have begun.
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
