// The receiver's operations: taking nodes in and handing messages out. Only the holder of the claim may call them.

extension PortCore {
    /// Moves all nodes from the mailbox to the end of the backlog.
    ///
    /// The backlog is the list of nodes from which the receiver takes messages and notices.
    ///
    /// - Returns: The number of nodes in the backlog.
    func takeMail() -> Int {
        unsafe receiver.state.value.backlog.append(queue.mailbox.take())
        return unsafe receiver.state.value.backlog.count
    }

    /// The number of nodes in the backlog, from which the receiver takes messages and notices.
    var backlogCount: Int { unsafe receiver.state.value.backlog.count }

    /// The node with the oldest message or notice in the backlog; nil if the backlog is empty or the port has ended.
    var next: Node? { isClosed ? nil : unsafe receiver.state.value.backlog.first }

    /// Removes the oldest message or notice from its node, and returns it.
    ///
    /// The node must be ``next``. If the removed item is a message, the port has room for one more message.
    @inline(__always)
    func take(from node: Node) -> Node.Taken {
        let taken = takeSlot(of: node)
        if taken.takesRoom {
            if queue.limit > 0 { queue.didHandOut() } else { queue.countHandedOut() }
        }
        return taken
    }

    @inline(__always)
    private func takeSlot(of node: Node) -> Node.Taken {
        let taken = node.takeSlot()
        if taken.isLast { unsafe receiver.state.value.backlog.removeFirst() }
        return taken
    }

    /// Removes the oldest message or notice, and returns it in a node of its own; nil if there is none.
    ///
    /// A node in the backlog can carry several messages. Use this method if another thread can take the next message before the
    /// returned message has been used. The caller holds a lock against that thread, and finishes `pump` after it has released the
    /// lock.
    func takeIntoOwnNode(_ pump: inout PortQueue.Pump) -> Node? {
        guard let next else { return nil }
        let taken = takeSlot(of: next)
        if taken.takesRoom {
            if queue.limit > 0 { queue.didHandOut(&pump) } else { queue.countHandedOut() }
        }
        if taken.isLast && taken.slot.index == 0 { return next }
        let node = Node.make()
        messageType.move(taken.slot, node)
        if taken.isLast { PortCore.discard(next) }
        return node
    }

    /// Arms the mailbox with the receiver's signal, if both the backlog and the mailbox are empty.
    ///
    /// The next sender then gets the signal, and wakes the receiver with it.
    ///
    /// - Returns: False if there is a message or notice, or the port has ended.
    func arm(with signal: ReadyNode) -> Bool {
        if unsafe !receiver.state.value.backlog.isEmpty { return false }
        if queue.mailbox.arm(with: signal.retainedNode()) { return true }
        _ = ReadyNode.takeRetained(signal.node)
        return false
    }

    /// Disarms the mailbox or, in a signal port, the bell.
    ///
    /// Arming has stored a reference to the signal in the mailbox or bell. If no sender has taken this reference, the method
    /// releases it.
    func disarm(_ signal: ReadyNode) {
        if isSignalPort {
            if let node = bell.disarm() { _ = ReadyNode.takeRetained(node) }
        } else if queue.mailbox.disarm() {
            _ = ReadyNode.takeRetained(signal.node)
        }
    }
}
