internal import Notifications

/// Isolates our post of a name, with observers whose closures capture one object.
final class NamePoster: Poster {
    private let center: NotificationCenter
    private let name: Notification.Name
    private let tokens: [ObservationToken]

    init(in center: NotificationCenter = NotificationCenter(), name: String, observers: Int, calls: Calls) {
        let name = Notification.Name(name)
        self.center = center
        self.name = name
        // A center is not empty because nobody wants to know this: somebody always observes something else.
        let other = center.addObserver(forName: Notification.Name("other")) { _ in calls.note() }
        tokens =
            [other]
            + (0..<observers).map { _ in center.addObserver(forName: name) { _ in calls.note() } }
    }

    func post(_ count: Int) {
        for _ in 0..<count { center.post(name: name) }
    }

    /// Posters of several names to one center.
    static func several(names: [String], calls: [Calls]) -> [any Poster] {
        let center = NotificationCenter()
        return zip(names, calls).map { NamePoster(in: center, name: $0, observers: 1, calls: $1) }
    }
}
