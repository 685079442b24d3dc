internal import DequeModule
internal import Glibc
internal import RunLoops

/// The replies that a requester has no room for yet, oldest first, up to a number of bytes and of descriptors.
struct ReplyBacklog: Sendable {
    private var replies: Deque<BackloggedReply> = []
    private let limit: Int
    private var size = 0
    private var descriptorCount = 0

    /// The number of descriptors that are kept for one requester: as many as one message may carry.
    ///
    /// The process has few for all requesters together.
    static let descriptorLimit = 253

    /// Makes an empty backlog.
    ///
    /// - Parameter limit: The number of bytes that it may keep.
    init(limit: Int) { self.limit = limit }

    var isEmpty: Bool { replies.isEmpty }
    var first: BackloggedReply? { replies.first }

    /// Adds a reply.
    ///
    /// - Returns: False if there is no room for the reply, which was not added then.
    mutating func append(_ reply: BackloggedReply) -> Bool {
        if size + reply.size > limit { return false }
        let descriptors = descriptorCount + reply.descriptors.count
        if descriptors > ReplyBacklog.descriptorLimit { return false }
        size += reply.size
        descriptorCount = descriptors
        replies.append(reply)
        return true
    }

    /// Removes the first reply, which was sent.
    mutating func removeFirst() {
        let first = replies.removeFirst()
        size -= first.size
        descriptorCount -= first.descriptors.count
    }

    /// Removes all replies, because no requester will read them any more.
    ///
    /// - Returns: The replies, for the caller to destroy once it holds no lock.
    mutating func removeAll() -> Deque<BackloggedReply> {
        defer {
            replies = []
            size = 0
            descriptorCount = 0
        }
        return replies
    }
}

/// A reply that waits until its requester has room.
final class BackloggedReply: Sendable {
    /// The number of bytes that a reply costs beside its own: here, and in the kernel later.
    static let overhead = 128

    let frame: Frame
    let bytes: [UInt8]
    /// Duplicates, owned by this object.
    ///
    /// The program may have received the descriptors from another process, so closing them may take time.
    let descriptors: [CInt]

    /// Copies a reply, and duplicates its descriptors, so that the caller may close its own.
    init(_ frame: Frame, _ body: RawSpan, _ descriptors: [CInt]) throws(SystemError) {
        self.frame = frame
        bytes = unsafe body.withUnsafeBytes { bytes in unsafe Array(bytes) }
        var copies = OwnedDescriptors()
        for descriptor in descriptors {
            // The numbers are the caller's. The kernel refuses one that is no descriptor, as it does when a reply is sent at
            // once.
            copies.append(
                OwnedDescriptor(try systemCall("fcntl") { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }))
        }
        self.descriptors = copies.release()
    }

    deinit {
        if descriptors.isEmpty { return }
        DescriptorCloser.close(descriptors, for: DescriptorQuota(of: nil), wereCounted: false)
    }

    var size: Int { BackloggedReply.overhead * (1 + descriptors.count) + bytes.count }
}
