internal import DequeModule
internal import Glibc
internal import RunLoops

/// The packets that a peer has no room for yet, oldest first: replies, and messages that the program sends to the peer.
///
/// Replies and messages are in one queue, so that they arrive in the order in which they were sent. They have separate limits. If
/// a reply would exceed the limits for replies, the connection ends. If a message would exceed the limits for messages, the message
/// is refused.
struct PacketBacklog: Sendable {
    /// The largest numbers of messages and bytes that the port keeps for one peer that has no room.
    struct Limits: Sendable {
        let replyBytes: Int
        let messageCount: Int
        let messageBytes: Int

        init(_ limits: MessagePort.Options) {
            replyBytes = limits.keptReplyByteLimit
            messageCount = limits.keptMessageLimit
            messageBytes = limits.keptMessageByteLimit
        }
    }

    /// The total numbers of packets, bytes and descriptors that are kept, either for the replies or for the messages.
    private struct Share: Sendable {
        var count = 0
        var size = 0
        var descriptorCount = 0

        mutating func add(_ packet: BackloggedPacket, sign: Int = 1) {
            count += sign
            size += sign * packet.size
            descriptorCount += sign * packet.descriptors.count
        }
    }

    private var packets: Deque<BackloggedPacket> = []
    private let limits: Limits
    private var replies = Share()
    private var messages = Share()
    /// True after a message was refused, until the program is notified that there is room again.
    private var hasRefused = false

    /// The maximum total number of descriptors in the replies that are kept for one peer.
    ///
    /// The messages that are kept for the peer have a separate limit of the same size. A single packet can carry this number of
    /// descriptors. A higher limit would be dangerous: the process has a limit on its descriptors, against which the descriptors
    /// for all peers count.
    static let descriptorLimit = 253

    init(_ limits: Limits) { self.limits = limits }

    var isEmpty: Bool { packets.isEmpty }
    var first: BackloggedPacket? { packets.first }

    /// Adds a packet.
    ///
    /// - Returns: False if there is no room for the packet. Then it was not added.
    mutating func append(_ packet: BackloggedPacket) -> Bool {
        let isMessage = packet.frame.kind == .message
        guard
            isMessage
                ? hasRoom(forMessageOf: packet.size, packet.descriptors.count) : hasRoom(forReply: packet)
        else { return false }
        if isMessage { messages.add(packet) } else { replies.add(packet) }
        packets.append(packet)
        return true
    }

    /// Returns true if there is room for a message, and otherwise records that a message was refused.
    ///
    /// If no message waits, there is always room. So a message is refused only while other messages wait, and the program can be
    /// notified when those messages are sent.
    mutating func hasRoom(forMessageOf size: Int, _ descriptorCount: Int) -> Bool {
        if messages.count == 0 { return true }
        let fits =
            messages.count < limits.messageCount && messages.size + size <= limits.messageBytes
            && messages.descriptorCount + descriptorCount <= PacketBacklog.descriptorLimit
        if !fits { hasRefused = true }
        return fits
    }

    /// Records that a message was refused.
    mutating func refuseMessage() { hasRefused = true }

    private func hasRoom(forReply reply: BackloggedPacket) -> Bool {
        replies.size + reply.size <= limits.replyBytes
            && replies.descriptorCount + reply.descriptors.count <= PacketBacklog.descriptorLimit
    }

    /// Removes the first packet, which was sent.
    mutating func removeFirst() {
        let first = packets.removeFirst()
        if first.frame.kind == .message {
            messages.add(first, sign: -1)
        } else {
            replies.add(first, sign: -1)
        }
    }

    /// Returns true if a message was refused, and the kept messages now take at most half of each of their limits.
    ///
    /// After the function has returned true, it returns false until another message is refused.
    mutating func takeRoomNotice() -> Bool {
        let isHalfFree =
            messages.count <= limits.messageCount / 2 && messages.size <= limits.messageBytes / 2
            && messages.descriptorCount <= PacketBacklog.descriptorLimit / 2
        if !hasRefused || !isHalfFree { return false }
        hasRefused = false
        return true
    }

    /// Removes all packets, because the connection has ended.
    ///
    /// - Returns: The packets, which the caller destroys when it holds no lock.
    mutating func removeAll() -> Deque<BackloggedPacket> {
        defer {
            packets = []
            replies = Share()
            messages = Share()
            hasRefused = false
        }
        return packets
    }
}

/// A packet that waits until its peer has room.
final class BackloggedPacket: Sendable {
    /// The overhead of a packet, and of each of its descriptors, in bytes.
    ///
    /// The overhead counts against the limits in addition to the length of the packet. It accounts for the memory that the packet
    /// and its descriptors take in this process, and later in the kernel.
    static let overhead = 128

    let frame: Frame
    let bytes: [UInt8]
    /// Duplicates of the sender's descriptors, which this object owns.
    ///
    /// The program may have received the originals from another process, so closing the duplicates can take time.
    let descriptors: [CInt]
    /// The place among all packets that the port keeps; nil in a test of a packet alone.
    private let place: KeptPackets.Place?

    /// Keeps the bytes of a packet, and duplicates its descriptors, so that the caller can close the originals.
    init(
        _ frame: Frame, _ bytes: [UInt8], _ descriptors: [CInt], in place: KeptPackets.Place? = nil
    ) throws(SystemError) {
        self.frame = frame
        self.bytes = bytes
        self.place = place
        var copies = OwnedDescriptors()
        for descriptor in descriptors {
            // The numbers come from the caller. The kernel refuses a number that is not a descriptor, as it does when a packet is
            // sent immediately.
            copies.append(
                OwnedDescriptor(try systemCall("fcntl") { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }))
        }
        self.descriptors = copies.release()
    }

    deinit {
        if descriptors.isEmpty { return }
        DescriptorCloser.close(descriptors, for: DescriptorQuota(of: nil), wereCounted: false)
    }

    /// The number of bytes that the packet counts against the limits: its length and the ``overhead``.
    var size: Int { BackloggedPacket.size(of: bytes.count, descriptors.count) }

    static func size(of byteCount: Int, _ descriptorCount: Int) -> Int {
        overhead * (1 + descriptorCount) + byteCount
    }
}
