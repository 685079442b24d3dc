internal import DequeModule
internal import Glibc
internal import RunLoops

/// Replies that a requester has no room for yet, oldest first, up to a number of bytes and of descriptors.
struct KeptReplies: Sendable {
    private var replies: Deque<KeptReply> = []
    private let limit: Int
    private var size = 0
    private var descriptorCount = 0

    /// How many descriptors are kept for one requester, as many as one message may carry: the process has few for all of them.
    static let descriptorLimit = 253

    /// Makes an empty queue.
    ///
    /// - Parameter limit: How many bytes are kept.
    init(limit: Int) { self.limit = limit }

    var isEmpty: Bool { replies.isEmpty }
    var first: KeptReply? { replies.first }

    /// Keeps a reply.
    ///
    /// - Returns: False if there is no room for it: then it was not kept.
    mutating func keep(_ reply: KeptReply) -> Bool {
        if size + reply.size > limit { return false }
        let descriptors = descriptorCount + reply.descriptors.count
        if descriptors > KeptReplies.descriptorLimit { return false }
        size += reply.size
        descriptorCount = descriptors
        replies.append(reply)
        return true
    }

    /// The first reply is on its way.
    mutating func removeFirst() {
        let first = replies.removeFirst()
        size -= first.size
        descriptorCount -= first.descriptors.count
    }

    /// Lets go of all: nobody will read them any more.
    ///
    /// - Returns: The replies, for the caller to destroy once it holds no lock.
    mutating func removeAll() -> Deque<KeptReply> {
        defer {
            replies = []
            size = 0
            descriptorCount = 0
        }
        return replies
    }
}

/// A reply that waits until its requester has room.
final class KeptReply: Sendable {
    /// What a reply takes beside its bytes: here, and in the kernel later.
    static let overhead = 128

    let frame: Frame
    let bytes: [UInt8]
    /// Copies, owned by this object.
    ///
    /// The program may have had the descriptors from another process, so closing them may take time.
    let descriptors: [CInt]

    /// Copies a reply, and opens its descriptors a second time: the caller may close its own.
    init(_ frame: Frame, _ body: RawSpan, _ descriptors: [CInt]) throws(SystemError) {
        self.frame = frame
        bytes = unsafe body.withUnsafeBytes { bytes in unsafe Array(bytes) }
        var copies = OwnedDescriptors()
        for descriptor in descriptors {
            // The numbers are the caller's: one that is no descriptor is refused by the kernel, as when it is sent at once.
            copies.append(
                OwnedDescriptor(try systemCall("fcntl") { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }))
        }
        self.descriptors = copies.release()
    }

    deinit {
        if descriptors.isEmpty { return }
        DescriptorCloser.close(descriptors, for: DescriptorAccount(of: nil), wereCounted: false)
    }

    var size: Int { KeptReply.overhead * (1 + descriptors.count) + bytes.count }
}
