// Sending a message of a type, for a port and for a right alike.
//
// Inlined into the callers, so that they are compiled for the type.

extension PortCore {
    @inlinable @inline(__always)
    func post<Message: Sendable>(_ message: consuming Message) throws(PortSendError<Message>) {
        if Message.self == Void.self {
            if let refusal = ring() { throw PortSendError(refusal, [message]) }
            return
        }
        let node = PortCore.makeNode()
        node.store(message)
        if let refusal = send(node) { throw PortCore.takeBack(node, refusal) }
    }

    @inlinable @inline(__always)
    func post<Message: Sendable>(
        _ message: consuming Message, before deadline: ContinuousClock.Instant
    ) throws(PortSendError<Message>) {
        if Message.self == Void.self { return try post(message) }
        let node = PortCore.makeNode()
        node.store(message)
        if let refusal = send(node, before: deadline) { throw PortCore.takeBack(node, refusal) }
    }

    @usableFromInline
    static func takeBack<Message: Sendable>(_ node: Node, _ refusal: Refusal) -> PortSendError<Message> {
        let message = node.move(Message.self)
        discard(node)
        return PortSendError(refusal, [message])
    }

    @inlinable @inline(__always)
    func post<Message: Sendable>(
        contentsOf messages: some Collection<Message>, before deadline: ContinuousClock.Instant?
    ) throws(PortSendError<Message>) {
        var rest = messages[...]
        while !rest.isEmpty {
            if Message.self == Void.self {
                if let refusal = ring() { throw PortSendError(refusal, Array(rest)) }
                return
            }
            let part = rest.prefix(room(for: rest.count))
            rest = rest.dropFirst(part.count)
            var newest: Node?
            var iterator = part.makeIterator()
            while let node = Node.packing(&iterator) {
                // Linked newest to oldest, as the receiver takes them.
                node.next = newest
                newest = node
            }
            guard let refusal = send(newest, part.count, before: deadline) else { continue }
            throw PortSendError(refusal, PortCore.takeBack(newest) + rest)
        }
    }

    /// The messages of nodes that were not sent, linked newest to oldest; the nodes are given back.
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
