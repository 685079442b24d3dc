// Taking in and handing out, by whoever has the claim.

extension PortCore {
    /// How many nodes are at hand.
    func takeMail() -> Int {
        unsafe receiver.state.value.backlog.append(queue.mailbox.take())
        return unsafe receiver.state.value.backlog.count
    }

    /// The node with the oldest message, or notice.
    var next: Node? { isClosed ? nil : unsafe receiver.state.value.backlog.first }

    /// Takes the oldest message, or notice, out of the node that is next.
    ///
    /// A message's room is free from now on.
    @inline(__always)
    func take(from node: Node) -> Node.Taken {
        let taken = node.takeSlot()
        if taken.isLast { unsafe receiver.state.value.backlog.removeFirst() }
        if queue.limit > 0 && taken.takesRoom { queue.didHandOut() }
        return taken
    }

    /// The oldest message, or notice, in a node of its own: for whoever lets others take the next one meanwhile.
    func takeIntoOwnNode() -> Node? {
        guard let next else { return nil }
        let taken = take(from: next)
        if taken.isLast && taken.slot.index == 0 { return next }
        let node = PortCore.makeNode()
        messageType.move(taken.slot, node)
        if taken.isLast { PortCore.discard(next) }
        return node
    }

    /// Arms the mailbox, if nothing is at hand and nothing has come.
    ///
    /// - Returns: False if there is something, or the port was closed.
    func arm(with signal: Signal) -> Bool {
        if unsafe !receiver.state.value.backlog.isEmpty { return false }
        if queue.mailbox.arm(with: signal.retainedNode()) { return true }
        _ = Signal.takeRetained(signal.node)
        return false
    }
}
