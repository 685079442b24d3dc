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
        let node = PortCore.makeNode()
        moveMessage(taken.slot, node)
        if taken.isLast { PortCore.discard(next) }
        return node
    }

    /// Serves the senders that came to wait while messages were handed out, and were not seen.
    ///
    /// Handing one out and the look at who waits may change places with each other, and with the sender's two steps; these do
    /// not. Dear, so it is done when the port is empty, at the end of a turn in a loop, and when the receiver gives the port up. In
    /// a set each message has a turn of its own, and the next one that is taken out finds who was missed.
    func serveMissedSenders() {
        if limit == 0 { return }
        step(.handsOut)
        handedOut.store(handedOut.load(ordering: .relaxed), ordering: .sequentiallyConsistent)
        step(.waitingLooks)
        if waitingCount.load(ordering: .sequentiallyConsistent) > 0 { serveWaitingSenders() }
    }

    /// Arms the mailbox, if nothing is at hand and nothing has come.
    ///
    /// - Returns: False if there is something, or the port was closed.
    func arm(with signal: Signal) -> Bool {
        if unsafe !backlog.value.isEmpty { return false }
        serveMissedSenders()
        if mailbox.arm(with: signal.retainedNode()) { return true }
        _ = Signal.takeRetained(signal.node)
        return false
    }
}
