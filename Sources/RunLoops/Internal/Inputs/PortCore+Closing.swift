internal import Synchronization

// The end of a port, and what is destroyed with it.

extension PortCore {
    /// Destroys what is queued and refuses everything from now on.
    ///
    /// Any thread; calling it twice is harmless.
    func close() {
        step(.portCloses)
        if closedFlag.exchange(true, ordering: .sequentiallyConsistent) { return }
        let (nodes, signal) = mailbox.close()
        destroyAll(nodes)
        var released = waitingSenders.withLock { waiting in
            waitingCount.store(0, ordering: .sequentiallyConsistent)
            return waiting.closeAll()
        }
        released.tellAll(.closed)

        if let loop = RunLoop.existing, claim.isHeld(by: loop.handle) {
            // The receiver's own thread: the port leaves its loop at once.
            if let signal { _ = ReadyNode.takeRetained(signal) }
            if let input = unsafe input { input.membership.loop?.remove(input) }
        } else if let signal = signal ?? bell.nudge() {
            // The receiver sleeps on it, or is about to: it finds the port closed and releases it. A nudge and not a ring: a
            // receiver that is just arming the bell would take a ring for a signal.
            ReadyNode.send(signal)
        }
        // If a loop or a set has the port and is busy with it, it finds by itself that the port is closed.
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
