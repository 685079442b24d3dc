/// Several messages of one type in one node.
///
/// What is sent from one processor to another is sent as cache lines, and their number is what a message between two busy
/// threads costs most of. So messages that go out together share nodes, as many in each as have room. The receiver takes them
/// out one by one, oldest first; who has taken the last one has the node.
///
/// A pack is told by its mark, and two bytes behind the mark say how many messages were put in and how many were taken out.
/// When the last one is taken, the node is marked as an ordinary one again, as those of a slab are.
extension Node {
    /// Where a message is.
    @usableFromInline
    struct Slot: Sendable {
        @usableFromInline let node: Node
        @usableFromInline let index: Int

        @usableFromInline
        init(_ node: Node, _ index: Int = 0) {
            self.node = node
            self.index = index
        }

        /// Takes the message out of its slot, once.
        @inlinable @inline(__always)
        func move<Message>(_ type: Message.Type) -> Message { node.move(type, at: index) }
    }

    /// What was taken out of a node.
    struct Taken {
        let slot: Slot
        /// Whether nothing else is in the node: then the node belongs to whoever took this.
        let isLast: Bool
        /// Whether it is a message that takes room; then the node is one of a slab.
        let counts: Bool
    }

    private static let sentOffset = markOffset + 1
    private static let takenOffset = markOffset + 2

    /// How many messages of a type a node holds.
    @inlinable @inline(__always)
    static func capacity<Message>(for type: Message.Type) -> Int {
        holdsInline(type) ? max(1, payloadCapacity / MemoryLayout<Message>.stride) : 1
    }

    /// Puts the next messages into a node of the calling thread, as many as it holds and as have room.
    ///
    /// - Parameters:
    ///   - messages: The messages. Those that are not put in stay there.
    ///   - room: The number of messages that have room; the number of those put in is taken from it.
    /// - Returns: The node, or nil if there is no room, or no message left.
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
            // Safe: the slot has room, for one more fits inline, and nobody else has the node yet.
            unsafe node.slot(count, of: Message.self).initialize(to: message)
            count += 1
        }
        if count > 1 { node.becomePack(of: count) }
        room -= count
        return node
    }

    /// Where a message that is held inline begins.
    @inlinable @inline(__always)
    func slot<Message>(_ index: Int, of type: Message.Type) -> UnsafeMutablePointer<Message> {
        unsafe (address + Node.payloadOffset).assumingMemoryBound(to: Message.self) + index
    }

    @usableFromInline
    func becomePack(of count: Int) {
        setMark(.pack)
        // Safe: the two bytes belong to packs, and to the node's owner.
        unsafe address.storeBytes(of: UInt8(count), toByteOffset: Node.sentOffset, as: UInt8.self)
        unsafe address.storeBytes(of: 0, toByteOffset: Node.takenOffset, as: UInt8.self)
    }

    /// Takes out the oldest message.
    @inline(__always)
    func takeSlot() -> Taken {
        let mark = mark
        if mark != .pack { return Taken(slot: Slot(self), isLast: true, counts: mark == .ordinary) }
        // Safe: `becomePack` has written both bytes, and only one thread at a time takes out.
        let index = unsafe byte(Node.takenOffset)
        let isLast = unsafe index &+ 1 == byte(Node.sentOffset)
        if isLast {
            setMark(.ordinary)
        } else {
            unsafe address.storeBytes(of: index &+ 1, toByteOffset: Node.takenOffset, as: UInt8.self)
        }
        return Taken(slot: Slot(self, Int(index)), isLast: isLast, counts: true)
    }

    @unsafe
    private func byte(_ offset: Int) -> UInt8 { unsafe address.load(fromByteOffset: offset, as: UInt8.self) }
}
