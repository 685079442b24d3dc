internal import DequeModule

/// The messages and posts that an engine has yet to send to its hub.
struct HubOutbox {
    /// A message that the port had no room for.
    struct Message {
        let id: UInt32
        let bytes: [UInt8]
        var descriptor: CInt?
    }

    /// The result of adding a post to the next message of posts.
    enum Collected {
        /// The post was added, and the caller sends the message soon.
        case first
        /// The post was added to others.
        case further
        /// Messages wait for room in the port, so that the post was not added.
        case refused
    }

    /// The maximum size, in bytes, of a message that contains more than one post.
    private static let mostPostBytes = 60_000

    /// The messages that wait for room in the port, and that are sent before any later message.
    private var waiting = Deque<Message>()
    /// The encoded posts that the next message of posts will contain.
    private var posts = WireWriter()
    /// True if the engine has refused a post, and must notify the center when there is room again.
    private var owesRoom = false

    var isEmpty: Bool { waiting.isEmpty }
    var first: Message? { waiting.first }

    mutating func append(_ message: Message) { waiting.append(message) }
    mutating func removeFirst() { waiting.removeFirst() }

    /// Returns true if the next message of posts has room for a post.
    func hasRoom(for post: Post) -> Bool {
        posts.bytes.isEmpty || posts.bytes.count + post.cost <= HubOutbox.mostPostBytes
    }

    /// Adds a post to the next message of posts.
    mutating func collect(_ post: Post) -> Collected {
        if !waiting.isEmpty {
            owesRoom = true
            return .refused
        }
        let isFirst = posts.bytes.isEmpty
        posts.put(post)
        return isFirst ? .first : .further
    }

    /// Removes and returns the collected posts as one message; nil if there are none.
    mutating func takePosts() -> [UInt8]? {
        posts.bytes.isEmpty ? nil : exchange(&posts, with: WireWriter()).bytes
    }

    /// Returns true once after a post was refused.
    mutating func takeRoomDebt() -> Bool { exchange(&owesRoom, with: false) }
}
