/// Packs: nodes that contain several messages of one type.
///
/// Messages travel between processors as cache lines. Between two busy threads, moving cache lines makes up most of the cost of a
/// message. So messages that are sent together share nodes, each of which contains as many messages as fit. The receiver takes the
/// messages out one by one, oldest first. The thread that takes the last message out of a node then owns the node.
///
/// All nodes of a slab begin with the mark ``Mark/ordinary``. A pack has the mark ``Mark/pack`` until its last message is taken.
/// Then the mark is ``Mark/ordinary`` again. The two bytes behind the mark of a pack contain the number of messages that were put
/// in, and the number of messages that were taken out.
extension Node {
    /// The position of a message: its node, and its index in the node.
    @usableFromInline
    struct Slot: Sendable {
        @usableFromInline let node: Node
        @usableFromInline let index: Int

        @usableFromInline
        init(_ node: Node, _ index: Int = 0) {
            self.node = node
            self.index = index
        }

        /// Moves the message out of its slot; each message must be moved only once.
        @inlinable @inline(__always)
        func move<Message>(_ type: Message.Type) -> Message { node.move(type, at: index) }
    }

    /// A message or notice that was taken out of a node.
    struct Taken {
        let slot: Slot
        /// True if this was the last message or notice in the node.
        ///
        /// If so, the node belongs to the thread that has taken the message or notice.
        let isLast: Bool
        /// True if this is a message that counts towards the mailbox's limit.
        ///
        /// If so, the node belongs to a slab. This is false for a notice, and for a message beyond the limit.
        let takesRoom: Bool
    }

    private static let sentOffset = markOffset + 1
    private static let takenOffset = markOffset + 2

    /// Returns the number of messages of a type that one node holds.
    @inlinable @inline(__always)
    static func capacity<Message>(for type: Message.Type) -> Int {
        holdsInline(type) ? max(1, payloadCapacity / MemoryLayout<Message>.stride) : 1
    }

    /// Puts the next messages into a node of the calling thread: as many as fit into the node, and at most `room`.
    ///
    /// - Parameters:
    ///   - messages: The source of the messages. The call consumes the messages that it puts in.
    ///   - room: The maximum number of messages. The call subtracts the number of messages that it puts in.
    /// - Returns: The node; nil if there is no room, or no message is left.
    @inlinable @inline(__always)
    static func packing<Message>(
        _ messages: inout some IteratorProtocol<Message>, within room: inout Int
    ) -> Node? {
        guard room > 0, let first = messages.next() else { return nil }
        let node = Node.make()
        node.store(first)
        let most = min(room, capacity(for: Message.self))
        var count = 1
        while count < most, let message = messages.next() {
            // Safe: the node has space for one more inline message, and no other thread has the node yet.
            unsafe node.slot(count, of: Message.self).initialize(to: message)
            count += 1
        }
        if count > 1 { node.becomePack(of: count) }
        room -= count
        return node
    }

    /// Returns the address of a message that is stored inline.
    @inlinable @inline(__always)
    func slot<Message>(_ index: Int, of type: Message.Type) -> UnsafeMutablePointer<Message> {
        unsafe (address + Node.payloadOffset).assumingMemoryBound(to: Message.self) + index
    }

    @usableFromInline
    func becomePack(of count: Int) {
        setMark(.pack)
        // Safe: only packs use the two bytes, and only the node's owner accesses them.
        unsafe address.storeBytes(of: UInt8(count), toByteOffset: Node.sentOffset, as: UInt8.self)
        unsafe address.storeBytes(of: 0, toByteOffset: Node.takenOffset, as: UInt8.self)
    }

    /// Removes and returns the oldest message or notice.
    @inline(__always)
    func takeSlot() -> Taken {
        let mark = mark
        if mark != .pack { return Taken(slot: Slot(self), isLast: true, takesRoom: mark == .ordinary) }
        // Safe: `becomePack` has written both bytes, and only one thread at a time takes messages out.
        let index = unsafe byte(Node.takenOffset)
        let isLast = unsafe index &+ 1 == byte(Node.sentOffset)
        if isLast {
            setMark(.ordinary)
        } else {
            unsafe address.storeBytes(of: index &+ 1, toByteOffset: Node.takenOffset, as: UInt8.self)
        }
        return Taken(slot: Slot(self, Int(index)), isLast: isLast, takesRoom: true)
    }

    @unsafe
    private func byte(_ offset: Int) -> UInt8 { unsafe address.load(fromByteOffset: offset, as: UInt8.self) }
}
