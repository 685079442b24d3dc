internal import DequeModule

/// The newest posts of a hub, for observers that connect again or that ask for earlier posts.
struct HubRing: Hashable, Sendable {
    struct Kept: Sendable {
        let post: Post
        /// The nodes of the post's topic.
        let places: HubIndex.Places
    }

    /// The posts in the order of their positions.
    private var posts: Deque<Kept>
    /// The position of the oldest post.
    private(set) var start: UInt64 = 1
    private var bytes = 0

    /// Makes an empty ring with room for a number of posts, so that it never has to move those that it has.
    ///
    /// The kernel gives the memory when it is used.
    init(ofPosts most: Int) { posts = Deque(minimumCapacity: most + 1) }

    /// The position of the newest post.
    var newest: UInt64 { start + UInt64(posts.count) - 1 }

    subscript(position: UInt64) -> Post { posts[Int(position - start)].post }

    mutating func append(_ post: Post, _ places: HubIndex.Places) {
        posts.append(Kept(post: post, places: places))
        bytes += post.cost
    }

    /// Removes the oldest post if there are too many.
    ///
    /// - Returns: The nodes of its topic.
    mutating func dropOldest(_ limits: Hub.Limits) -> HubIndex.Places? {
        guard posts.count > limits.ringPosts || bytes > limits.ringBytes, let oldest = posts.popFirst()
        else { return nil }
        bytes -= oldest.post.cost
        start += 1
        return oldest.places
    }
}

extension HubRing.Kept: Hashable {
    static func == (left: HubRing.Kept, right: HubRing.Kept) -> Bool { left.post == right.post }
    func hash(into hasher: inout Hasher) { hasher.combine(post) }
}
