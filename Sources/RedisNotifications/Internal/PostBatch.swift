internal import DistributedNotifications

/// A batch of one poster's posts, which the server adds to the stream in one step, as one entry.
///
/// A pure value. A batch contains posts that a center hands over in the same pass of its loop.
struct PostBatch {
    /// The limits of a batch.
    ///
    /// The server keeps a limited number of entries, so one entry contains several posts. A batch is small nevertheless, because
    /// the server serves no other client while it adds an entry.
    static let most = (posts: 16, bytes: 65_536)

    private(set) var posts: [Post] = []
    private var records = WireWriter()

    var isFull: Bool { posts.count >= PostBatch.most.posts || bytes.count >= PostBatch.most.bytes }

    /// The encoded posts of the batch, each of them preceded by its length.
    ///
    /// A record consists of the length, in four bytes, and the encoded post. The encoded post begins with the post's number, in
    /// eight bytes.
    var bytes: [UInt8] { records.bytes }

    mutating func append(_ post: Post) {
        var record = WireWriter()
        record.put(post)
        records.put(UInt32(record.bytes.count))
        records.put(record)
        posts.append(post)
    }

    /// The maximum number of bytes of a batch: it gets its last post, which can be the largest one, before it is full.
    private static let mostBytes = 262_144

    /// Reads posts from the records of an entry; nil if the bytes are not those of a ``PostBatch``.
    static func posts(_ bytes: some Collection<UInt8>, of poster: PosterID) -> [Post]? {
        if bytes.count > mostBytes { return nil }
        var reader = WireReader(Array(bytes))
        var posts: [Post] = []
        do {
            while !reader.isAtEnd {
                _ = try reader.number(UInt32.self)
                let post = try reader.post(of: poster)
                if post.previous >= post.number || post.number <= posts.last?.number ?? 0 { return nil }
                if posts.count == most.posts { return nil }
                posts.append(post)
            }
        } catch { return nil }
        return posts
    }
}
