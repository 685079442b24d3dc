internal import Notifications

/// Isolates our post of a message with a type of its own.
final class MessagePoster: Poster {
    private final class Subject: Sendable {}

    private struct Message: NotificationMessage {
        typealias Subject = MessagePoster.Subject
        let value: Int
    }

    private struct OtherMessage: NotificationMessage {
        typealias Subject = MessagePoster.Subject
    }

    private let center = NotificationCenter()
    private let subject = Subject()
    private let tokens: [ObservationToken]

    init(observers: Int, calls: Calls) {
        let other = center.addObserver(for: OtherMessage.self) { _ in calls.note() }
        tokens =
            [other]
            + (0..<observers).map { [center] _ in
                center.addObserver(for: Message.self) { _ in calls.note() }
            }
    }

    func post(_ count: Int) {
        for value in 0..<count { center.post(Message(value: value), subject: subject) }
    }
}
