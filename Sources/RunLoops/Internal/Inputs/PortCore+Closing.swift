internal import Synchronization

// The end of a port, and what is destroyed with it.

extension PortCore {
    /// Destroys what is queued and refuses everything from now on.
    ///
    /// Any thread; calling it twice is harmless.
    func close() {
        racePoint(.portCloses)
        if !markClosed() { return }
        let (nodes, signal) = queue.mailbox.close()
        destroyAll(nodes)
        var released = queue.closeLine()
        released.notifyAll(.closed)

        if let loop = RunLoop.existing, receiver.claim.isHeld(by: loop.inbox) {
            // The receiver's own thread: the port leaves its loop at once.
            if let signal { _ = Signal.takeRetained(signal) }
            if let input = unsafe receiver.state.value.input { input.membership.loop?.removeFromLoop(input) }
        } else if let signal = signal ?? bell.nudge() {
            // The receiver sleeps on it, or is about to: it finds the port closed and releases it. A nudge and not a ring: a
            // receiver that is just arming the bell would take a ring for a signal.
            Signal.send(signal)
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
        guard isClosedInOrder, receiver.claim.takeIfFree(for: self) else { return }
        destroyBacklog()
        receiver.claim.release()
    }

    /// Destroys what was taken in of a closed port.
    ///
    /// By whoever has the claim.
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

    /// Destroys all that is left in a node.
    func destroyMessages(of node: Node) {
        var isLast = false
        while !isLast {
            let taken = node.takeSlot()
            isLast = taken.isLast
            messageType.destroy(taken.slot)
        }
    }
}
