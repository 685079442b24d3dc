internal import Synchronization

// The end of a port, and what is destroyed with it.

extension PortCore {
    /// Destroys what is queued and refuses everything from now on.
    ///
    /// Any thread; again is harmless.
    func close() {
        step(.portCloses)
        if closedFlag.exchange(true, ordering: .sequentiallyConsistent) { return }
        let (nodes, signal) = mailbox.close()
        destroyAll(nodes)
        let released = waitingSenders.withLock { waiting in
            waitingCount.store(0, ordering: .sequentiallyConsistent)
            return waiting.closeAll()
        }
        for sender in released { sender.tell(.closed) }

        if let loop = RunLoop.existing, claim.isHeld(by: loop.inbox) {
            // The receiver's own thread: gone at once.
            if let signal { _ = Signal.takeRetained(signal) }
            if let input = unsafe input { input.membership.loop?.removeFromLoop(input) }
        } else if let signal = signal ?? bell.ring() {
            // The loop sleeps on it, or would: it finds the port closed and lets go of it.
            Signal.send(signal)
        }
        // If a loop or a set has the port and is busy with it, it finds it closed by itself.
        destroyWhatIsLeft()
        endRights()
    }

    /// Destroys what was taken in, if the port has ended and nobody has it.
    ///
    /// Called by whoever ends the port, and by whoever has just given it up: of two who do so at the same moment, the later
    /// one sees the other.
    func destroyWhatIsLeft() {
        // Anew: several threads come here for the same port.
        guard closedFlag.load(ordering: .sequentiallyConsistent), claim.takeAnew(for: self) else { return }
        destroyBacklog()
        claim.giveUp()
    }

    /// Destroys what was taken in of a closed port.
    ///
    /// By whoever has the claim.
    func destroyBacklog() { destroyAll(unsafe backlog.value.removeAll()) }

    func destroyAll(_ list: NodeList) {
        var nodes = list
        var releaser = NodeReleaser()
        while let node = nodes.popFirst() {
            guard node.counts else {
                destroyLone(node)
                continue
            }
            destroyMessages(of: node)
            releaser.release(node)
        }
    }

    /// Destroys all that is left in a node.
    func destroyMessages(of node: Node) {
        var isLast = false
        while !isLast {
            let taken = node.takeSlot()
            isLast = taken.isLast
            destroyMessage(taken.slot)
        }
    }
}
