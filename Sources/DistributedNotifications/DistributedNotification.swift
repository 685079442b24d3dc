/// A notification that a center of this or another process has posted.
///
/// > Thread safety: a value.
public struct DistributedNotification: Hashable, Sendable {
    /// The identity of the center that has posted a notification.
    ///
    /// Each center takes a random identity, so a restarted program has a new identity, and two centers of one process have
    /// different identities.
    ///
    /// > Thread safety: a value.
    public struct Poster: Hashable, Sendable, CustomStringConvertible {
        let id: PosterID

        init(_ id: PosterID) { self.id = id }

        /// The poster of a gap that stands for all ended posters that the engine has forgotten.
        ///
        /// An engine remembers ended posters up to a limit. If a center was disconnected for so long that the engine has forgotten
        /// ended posters meanwhile, each of its observers gets one such gap, because the observer can have missed notifications
        /// of posters that it does not know.
        public static let unknown = Poster(.unknown)

        /// The identity, as 32 hexadecimal digits.
        public var description: String {
            [id.high, id.low].map { word in
                let digits = String(word, radix: 16)
                return String(repeating: "0", count: 16 - digits.count) + digits
            }.joined()
        }
    }

    let post: Post

    /// The number of earlier notifications of the same poster and topic that were merged into this one.
    public internal(set) var mergedCount = 0

    init(_ post: Post) { self.post = post }

    /// The name of the event.
    public var name: String { post.topic.name }

    /// The sender; nil if there is none.
    public var sender: String? { post.topic.sender }

    /// The bytes that the poster has attached.
    public var payload: [UInt8] { post.payload }

    /// The poster.
    public var poster: Poster { Poster(post.poster) }

    /// The number that the poster has given the notification: a poster numbers its posts from 1, whatever their names and senders.
    public var number: UInt64 { post.number }

    /// The time of the post, in nanoseconds since 1970, by the clock of the poster's machine.
    public var date: Int64 { post.date }
}
