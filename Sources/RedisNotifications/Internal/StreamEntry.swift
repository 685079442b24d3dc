internal import DistributedNotifications

/// An entry of the stream: the posts, the horizons or the end of a poster, or the beginning of a generation.
struct StreamEntry: Hashable, Sendable {
    /// The content of an entry, by its kind.
    enum Content: Hashable, Sendable {
        /// The first entry of a generation.
        case beginning
        case posts([Post])
        /// The horizons of a poster; the poster sends no further post with a number up to `upTo`.
        case horizons([Horizon], by: PosterID, upTo: UInt64)
        case end(PosterEnd)
        /// An entry that another program, or a later version of this library, has added.
        case unknown
    }

    let id: EntryID
    let content: Content

    init(id: EntryID, content: Content) {
        self.id = id
        self.content = content
    }

    // Fields, as name and value in turn. The scripts make those of posts and ends.

    /// Returns the fields of a stream entry that contains an announcement.
    ///
    /// There is one line of text for each horizon. The line contains the horizon's number, base flag and reason, the lengths of the
    /// topic's name and sender, and then that name and sender.
    static func fields(of announcement: Announcement, by poster: PosterID) -> RedisWords {
        var lines = ""
        for horizon in announcement.horizons {
            let sender = horizon.topic.sender
            lines += "\(horizon.number) \(horizon.isBase ? 1 : 0) \(horizon.reason.number) "
            lines += "\(horizon.topic.name.utf8.count) \(sender.map { $0.utf8.count } ?? -1) "
            lines += horizon.topic.name + (sender ?? "") + "\n"
        }
        return RedisWords("k", "h", "p", poster.text, "n", "\(announcement.number)", "b", lines)
    }
}
