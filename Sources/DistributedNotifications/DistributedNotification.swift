internal import RunLoops

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

        /// Makes a random identity, for tests of code that observes.
        public init() { id = .random() }

        /// A stand-in for ended posters that the engine has forgotten.
        ///
        /// Only a gap can have this poster.
        ///
        /// An engine remembers a limited number of ended posters. While a center is disconnected, or too slow, it can miss
        /// notifications of posters that have ended, and the engine can forget these posters. The engine can then no longer name
        /// them. Instead, one gap with this stand-in is reported to each observer that has possibly missed such notifications.
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

    /// The number of earlier notifications with the same poster, name and sender that were merged into this one.
    public internal(set) var mergedCount = 0

    init(_ post: Post) { self.post = post }

    /// Creates a notification, for tests of code that observes.
    ///
    /// A center makes its notifications itself when you post: ``DistributedNotificationCenter``.
    ///
    /// ```swift
    /// var prices = PriceList()
    /// prices.take(DistributedNotification(name: "prices", payload: Array("tea 3".utf8), number: 1))
    /// #expect(prices["tea"] == 3)
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - sender: The sender; nil for none.
    ///   - payload: The bytes.
    ///   - poster: The identity of the poster; a new one if none is given.
    ///   - number: The number of the notification among those of its poster, counted from 1.
    ///   - timeSince1970: The time of the post since the beginning of 1970 in UTC.
    public init(
        name: String, sender: String? = nil, payload: [UInt8] = [], poster: Poster = Poster(),
        number: UInt64 = 1, timeSince1970: Duration = .zero
    ) {
        post = Post(
            poster: poster.id, number: number, previous: number - min(number, 1),
            topic: Topic(name: name, sender: sender), date: timeSince1970.nanosecondsRoundedUp,
            payload: payload)
    }

    /// The name of the event.
    public var name: String { post.topic.name }

    /// The sender that the poster has given; nil if it has given none.
    public var sender: String? { post.topic.sender }

    /// The bytes that the poster has attached.
    public var payload: [UInt8] { post.payload }

    /// The identity of the center that posted the notification.
    public var poster: Poster { Poster(post.poster) }

    /// The number of the notification among all notifications of its poster.
    ///
    /// A poster numbers its posts from 1, in one sequence for all names and senders.
    public var number: UInt64 { post.number }

    /// The time of the post since the beginning of 1970 in UTC, by the clock of the poster's machine.
    public var timeSince1970: Duration { .nanoseconds(post.date) }
}
