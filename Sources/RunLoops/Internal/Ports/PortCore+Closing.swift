internal import Synchronization

// The end of a port, and the destruction of its queue.

extension PortCore {
    /// Ends the port, destroys all queued messages, and refuses every later message.
    ///
    /// Any thread can call this. A second call does nothing.
    func close() {
        racePoint(.portCloses)
        if !markClosed() { return }
        let (nodes, signal) = queue.mailbox.close()
        destroyAll(nodes)
        var released = queue.closeLine()
        released.notifyAll(.closed)

        if let handle = LoopHandle.ofThread, receiver.claim.isHeld(by: handle) {
            // On the receiver's own thread, the port leaves its loop immediately.
            if let signal { _ = ReadyNode.takeRetained(signal) }
            if let input = unsafe receiver.state.value.input { input.membership.loop?.remove(input) }
        } else if let signal = signal ?? bell.nudge() {
            // The receiver sleeps on this signal, or is about to sleep. When it wakes, it finds that the port is closed, and
            // releases the port. The bell is nudged instead of rung, because a receiver that is arming the bell at this moment
            // would count a ring as a signal from a sender.
            //
            // In a forked child, the receiver's loop is the parent's, and must not wake.
            if Fork.isChild { _ = ReadyNode.takeRetained(signal) } else { ReadyNode.send(signal) }
        }
        // A receiver that is serving the port at this moment finds that the port is closed, and destroys what is left.
        destroyWhatIsLeft()
        endRights()
    }

    /// Destroys the messages in the backlog, if the port has ended and its ``Claim`` is free.
    ///
    /// The thread that ends the port calls this, and so does a thread that has just released the claim. If both threads call it at
    /// the same moment, at least one of them finds that the port has ended and that the claim is free.
    func destroyWhatIsLeft() {
        // The claim is taken only if it is free: several threads can call this for the same port at once, and only one of them may
        // continue.
        guard isClosedInOrder, receiver.claim.takeIfFree(for: self) else { return }
        destroyBacklog()
        receiver.claim.release()
    }

    /// Destroys the messages in the backlog: those that the receiver has moved out of the mailbox, but not delivered yet.
    ///
    /// Call this only in `deinit`, or if the port is closed and the caller holds the port's ``Claim``.
    func destroyBacklog() { destroyAll(unsafe receiver.state.value.backlog.removeAll()) }

    func destroyAll(_ list: NodeList) {
        var nodes = list
        var releaser = NodeReleaser()
        while let node = nodes.popFirst() {
            guard node.takesRoom else {
                destroyStandalone(node)
                continue
            }
            destroyMessages(of: node)
            releaser.release(node)
        }
    }

    /// Destroys all messages that are left in a node.
    func destroyMessages(of node: Node) {
        var isLast = false
        while !isLast {
            let taken = node.takeSlot()
            isLast = taken.isLast
            messageType.destroy(taken.slot)
        }
    }
}
