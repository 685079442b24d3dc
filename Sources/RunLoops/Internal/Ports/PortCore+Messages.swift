// The part of sending that depends on the type of the message, for ports and rights.
//
// These functions are inlined into their callers, so that they are compiled for the type of the message.

extension PortCore {
    @inlinable @inline(__always)
    func post<Message: Sendable>(_ message: consuming Message) throws(PortSendError<Message>) {
        if Message.self == Void.self {
            if let refusal = ring() { throw PortSendError(self, refusal, [message]) }
            return
        }
        let node = Node.make()
        node.store(message)
        if let refusal = send(node) { throw takeBack(node, refusal) }
    }

    @inlinable @inline(__always)
    func post<Message: Sendable>(
        _ message: consuming Message, before deadline: ContinuousClock.Instant
    ) throws(PortSendError<Message>) {
        if Message.self == Void.self { return try post(message) }
        let node = Node.make()
        node.store(message)
        if let refusal = send(node, before: deadline) { throw takeBack(node, refusal) }
    }

    @usableFromInline
    func takeBack<Message: Sendable>(_ node: Node, _ refusal: Refusal) -> PortSendError<Message> {
        let message = node.move(Message.self)
        PortCore.discard(node)
        return PortSendError(self, refusal, [message])
    }

    @inlinable @inline(__always)
    func post<Message: Sendable>(
        contentsOf messages: some Collection<Message>, before deadline: ContinuousClock.Instant?
    ) throws(PortSendError<Message>) {
        // The collection is iterated once, and its count is never read. A collection can report a wrong count, and room that was
        // taken for messages that do not exist would be lost for good.
        var rest = messages.makeIterator()
        if Message.self == Void.self {
            guard let first = rest.next() else { return }
            if let refusal = ring() { throw PortSendError(self, refusal, [first] + IteratorSequence(rest)) }
            return
        }
        var room = 0
        while room == 0 {
            let most = roomAtOnce()
            room = most
            var newest: Node?
            while let node = Node.packing(&rest, within: &room) {
                // The nodes are linked newest to oldest, like the nodes in the mailbox.
                node.next = newest
                newest = node
            }
            if let refusal = send(newest, most - room, before: deadline) {
                throw PortSendError(self, refusal, PortCore.takeBack(newest) + IteratorSequence(rest))
            }
        }
    }

    /// Returns the messages of nodes that were not sent, oldest first, and releases the nodes.
    ///
    /// The nodes are linked from the newest to the oldest.
    @usableFromInline
    static func takeBack<Message>(_ newest: Node?) -> [Message] {
        var nodes: [Node] = []
        var rest = newest
        while let node = rest {
            nodes.append(node)
            rest = node.next
        }
        var messages: [Message] = []
        for node in nodes.reversed() {
            var isLast = false
            while !isLast {
                let taken = node.takeSlot()
                isLast = taken.isLast
                messages.append(taken.slot.move(Message.self))
            }
            discard(node)
        }
        return messages
    }
}
