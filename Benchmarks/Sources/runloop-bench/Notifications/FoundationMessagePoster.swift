internal import Foundation

/// Isolates Foundation's post of a message with a type of its own, of the kind that is posted on the main thread: the other
/// kind does not call its observers before the post returns.
final class FoundationMessagePoster: Poster, @unchecked Sendable {
    // Safe because the tokens are only held.
    private final class Subject: Sendable {}

    private struct Message: NotificationCenter.MainActorMessage {
        typealias Subject = FoundationMessagePoster.Subject
        let value: Int
    }

    private struct OtherMessage: NotificationCenter.MainActorMessage {
        typealias Subject = FoundationMessagePoster.Subject
    }

    private let center = NotificationCenter()
    private let subject = Subject()
    private let tokens: [NotificationCenter.ObservationToken]

    init(observers: Int, calls: Calls) {
        let center = center
        let other = center.addObserver(for: OtherMessage.self) { _ in calls.note() }
        tokens =
            [other]
            + (0..<observers).map { _ in center.addObserver(for: Message.self) { _ in calls.note() } }
    }

    /// On the main thread.
    func post(_ count: Int) {
        MainActor.assumeIsolated {
            for value in 0..<count { center.post(Message(value: value), subject: subject) }
        }
    }
}
