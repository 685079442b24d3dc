internal import Foundation

/// Isolates Foundation's post of a name, with the same observers.
final class FoundationNamePoster: Poster {
    private let center: NotificationCenter
    private let name: Notification.Name

    init(in center: NotificationCenter = NotificationCenter(), name: String, observers: Int, calls: Calls) {
        let name = Notification.Name(name)
        self.center = center
        self.name = name
        // The center keeps its observers: nothing has to be held here.
        _ = center.addObserver(forName: Notification.Name("other"), object: nil, queue: nil) { _ in
            calls.note()
        }
        for _ in 0..<observers {
            _ = center.addObserver(forName: name, object: nil, queue: nil) { _ in calls.note() }
        }
    }

    func post(_ count: Int) {
        for _ in 0..<count { center.post(name: name, object: nil) }
    }

    /// Posters of several names to one center.
    static func several(names: [String], calls: [Calls]) -> [any Poster] {
        let center = NotificationCenter()
        return zip(names, calls).map { FoundationNamePoster(in: center, name: $0, observers: 1, calls: $1) }
    }
}
