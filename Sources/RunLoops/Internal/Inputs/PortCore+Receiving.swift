internal import CThreads
internal import Synchronization

// Taking in and handing out, by whoever has the claim.

extension PortCore {
    /// How many nodes are at hand.
    func takeMail() -> Int {
        unsafe backlog.value.append(mailbox.take())
        return unsafe backlog.value.count
    }

    /// The node with the oldest message, or notice.
    var next: Node? { isClosed ? nil : unsafe backlog.value.first }

    /// Takes the oldest message, or notice, out of the node that is next.
    ///
    /// A message's room is free from now on.
    @inline(__always)
    func take(from node: Node) -> Node.Taken {
        let taken = node.takeSlot()
        if taken.isLast { unsafe backlog.value.removeFirst() }
        if limit > 0 && taken.counts {
            step(.handsOut)
            handedOut.store(handedOut.load(ordering: .relaxed) &+ 1, ordering: .releasing)
            // In this order for a sender as well, which makes this thread pass a full fence before it sleeps.
            runloops_light_fence()
            step(.waitingLooks)
            if waitingCount.load(ordering: .relaxed) > 0 { serveWaitingSenders() }
        }
        return taken
    }

    /// The oldest message, or notice, in a node of its own: for whoever lets others take the next one meanwhile.
    func takeAlone() -> Node? {
        guard let next else { return nil }
        let taken = take(from: next)
        if taken.isLast && taken.slot.index == 0 { return next }
        let node = Node.make()
        moveMessage(taken.slot, node)
        if taken.isLast { PortCore.discard(next) }
        return node
    }

    /// Arms the mailbox, if nothing is at hand and nothing has come.
    ///
    /// - Returns: False if there is something, or the port was closed.
    func arm(with signal: ReadyNode) -> Bool {
        if unsafe !backlog.value.isEmpty { return false }
        if mailbox.arm(with: signal.retainedNode()) { return true }
        _ = ReadyNode.takeRetained(signal.node)
        return false
    }
}
