/// The entries of a message to a hub that the hub has yet to handle.
///
/// The hub handles some entries, and leaves the rest of a long message for later turns of the same connection. So no connection
/// delays the others, whatever it sends.
struct HubJob: Sendable {
    private enum Kind: Sendable {
        case posts
        case horizons(number: UInt64, isOpening: Bool, isLast: Bool)
        case subscriptions
        case unsubscriptions
        case posters
    }

    private let kind: Kind
    private var reader: WireReader
    /// The number of entries that the message may still contain.
    private var left: Int
    /// The size of the message.
    let byteCount: Int

    /// Reads the head of a message; nil if the message consists of nothing else, and is of another kind.
    init?(_ id: UInt32, _ bytes: [UInt8]) throws(WireViolation) {
        var reader = WireReader(bytes)
        switch id {
        case HubMessage.posts: (kind, left) = (.posts, .max)
        case HubMessage.announce:
            let (isOpening, isLast) = (try reader.flag(), try reader.flag())
            kind = .horizons(number: try reader.count(), isOpening: isOpening, isLast: isLast)
            left = HubMessage.horizonsPerMessage
        case HubMessage.subscribe: (kind, left) = (.subscriptions, HubMessage.subscriptionsPerMessage)
        case HubMessage.unsubscribe: (kind, left) = (.unsubscriptions, .max)
        case HubMessage.locate: (kind, left) = (.posters, HubMessage.postersPerMessage)
        default: return nil
        }
        self.reader = reader
        byteCount = bytes.count
    }

    /// True if the message contains posts.
    var containsPosts: Bool { if case .posts = kind { true } else { false } }

    /// The number of steps that an entry counts as, besides those for the connections and marks that it concerns.
    private static let stepsOfEntry = 4

    /// Handles one entry.
    ///
    /// - Returns: The number of steps that it took; nil if no entry is left.
    mutating func step(
        on hub: inout Hub, from connection: Hub.ConnectionID, _ poster: PosterID
    ) throws(WireViolation) -> Int? {
        if reader.isAtEnd {
            if case .horizons(let number, let isOpening, let isLast) = kind {
                try hub.announced(upTo: number, isOpening: isOpening, isLast: isLast, from: connection)
            }
            return nil
        }
        if left == 0 { throw WireViolation("a message has too many entries") }
        left -= 1
        switch kind {
        case .posts:
            return HubJob.stepsOfEntry + (try hub.publish(try reader.post(of: poster), from: connection))
        case .horizons:
            return HubJob.stepsOfEntry + (try hub.apply(try reader.horizon(), from: connection))
        case .subscriptions:
            let marks = try hub.subscribe(try reader.subscription(), from: connection)
            return HubJob.stepsOfEntry + marks * HubSurvey.stepsOfMark
        case .unsubscriptions: hub.unsubscribe(try reader.number(), from: connection)
        case .posters: hub.locate(try reader.poster(), from: connection)
        }
        return HubJob.stepsOfEntry
    }
}
