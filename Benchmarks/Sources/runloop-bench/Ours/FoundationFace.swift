internal import Foundation
internal import FoundationRunLoops

/// A post by code that was written for Foundation, with `FoundationRunLoops` imported.
final class FacePoster: Poster {
    private let center: NotificationCenter
    private let name: Notification.Name

    init(name: String, observers: Int, calls: CallCounter) {
        let center = NotificationCenter()
        let name = Notification.Name(name)
        self.center = center
        self.name = name
        // The center keeps its observers alive, so the tokens are not stored.
        _ = center.addObserver(forName: Notification.Name("other"), object: nil, queue: nil) { _ in
            calls.increment()
        }
        for _ in 0..<observers {
            _ = center.addObserver(forName: name, object: nil, queue: nil) { _ in calls.increment() }
        }
    }

    func post(_ count: Int) {
        for _ in 0..<count { center.post(name: name, object: nil) }
    }
}
