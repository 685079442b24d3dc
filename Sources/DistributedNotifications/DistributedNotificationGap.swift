internal import RunLoops

/// Notifications of one poster that an observer has missed for good.
///
/// A gap is an event of its own, which the observer gets in order with its notifications. Compared with notifications of the same
/// poster, name and sender, the gap comes after all those with lower numbers, and before all those with higher numbers.
///
/// > Thread safety: a value.
public struct DistributedNotificationGap: Hashable, Sendable {
    /// The reason that notifications were lost.
    ///
    /// > Thread safety: a value.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The poster could not send the notifications in time, and has dropped the oldest to make room.
        case posterFull
        /// This process did not take its notifications in time, and the engine had no room to keep more notifications for it.
        case processBehind
        /// The observer did not take its notifications in time, and its capacity was reached.
        case observerBehind
        /// While the center was suspended, the notifications were dropped because of the observer's behavior or for lack of room.
        case suspended
        /// The engine no longer had the notifications: this process was disconnected for too long, or the engine has lost its
        /// store.
        case notKept
        /// The poster ended before it had sent the notifications, or ended while it was not connected.
        case posterEnded
    }

    /// The poster of the missing notifications, or ``DistributedNotification/Poster/unknown``.
    public let poster: DistributedNotification.Poster

    /// The name of the missing notifications; nil if the name is unknown.
    ///
    /// If the name is unknown, the missing notifications can have any name and any sender.
    public let name: String?

    /// The sender of the missing notifications; nil if the notifications have no sender, or if ``name`` is nil.
    public let sender: String?

    /// The number of the first notification that may be missing.
    public let from: UInt64

    /// The number of the last notification that may be missing; nil if it is unknown.
    ///
    /// If the number is unknown and the poster posts again, the gap ends before the poster's next notification.
    public let to: UInt64?

    /// The reason that the notifications are missing.
    public let reason: Reason

    /// True if at least one notification that the observer wanted is certainly missing; false if this is only possible.
    public let isCertain: Bool

    /// Makes a gap, for tests of a handler.
    ///
    /// - Parameters:
    ///   - poster: The poster.
    ///   - name: The name; nil if unknown.
    ///   - sender: The sender.
    ///   - from: The lowest number that may be missing.
    ///   - to: The highest number that may be missing; nil if unknown.
    ///   - reason: The reason.
    ///   - isCertain: True if a notification is known to be missing.
    public init(
        poster: DistributedNotification.Poster, name: String?, sender: String?, from: UInt64, to: UInt64?,
        reason: Reason, isCertain: Bool
    ) {
        self.poster = poster
        self.name = name
        self.sender = sender
        self.from = from
        self.to = to
        self.reason = reason
        self.isCertain = isCertain
    }
}

extension DistributedNotificationGap: CustomStringConvertible {
    /// The numbers, the topic, the poster, and the reason.
    public var description: String {
        let end = to.map { "\($0)" } ?? "an unknown number"
        let topic = name.map { " of \(ForeignText($0))" } ?? ""
        return "\(isCertain ? "" : "possibly ")missing \(from) to \(end)\(topic) from \(poster): \(reason)"
    }
}

extension DistributedNotificationGap.Reason {
    /// The reasons that a message can name.
    package static let all: [Self] = [
        .posterFull, .processBehind, .observerBehind, .suspended, .notKept, .posterEnded,
    ]

    /// The number of the reason in messages.
    package var number: UInt8 {
        switch self {
        case .posterFull: 1
        case .processBehind: 2
        case .observerBehind: 3
        case .suspended: 4
        case .notKept: 5
        case .posterEnded: 6
        }
    }

    /// The reason with a number; nil if there is none.
    package init?(number: UInt8) {
        guard let reason = Self.all.first(where: { $0.number == number }) else { return nil }
        self = reason
    }
}
