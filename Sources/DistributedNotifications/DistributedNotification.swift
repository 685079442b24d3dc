/// A notification of another process, or of this one, as an observer gets it.
///
/// > Thread safety: a value.
public struct DistributedNotification: Hashable, Sendable {
    /// The identity of the center that has posted a notification.
    ///
    /// It is random, and another one after a restart. Two centers of one process are two posters.
    ///
    /// > Thread safety: a value.
    public struct Poster: Hashable, Sendable, CustomStringConvertible {
        let id: PosterID

        init(_ id: PosterID) { self.id = id }

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

    /// The bytes that the poster has sent along.
    public var payload: [UInt8] { post.payload }

    /// The poster.
    public var poster: Poster { Poster(post.poster) }

    /// The poster's number of the notification: 1 for its first, and one more for each, of whatever topic.
    public var number: UInt64 { post.number }

    /// The time of the post, in nanoseconds since 1970, by the clock of the poster's machine.
    public var date: Int64 { post.date }
}
