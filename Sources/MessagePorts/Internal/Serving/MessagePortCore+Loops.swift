internal import RunLoops

// A port in a loop: joining, leaving, and the handler for the ends of peers.

extension MessagePortCore {
    /// Puts the port into a mode.
    func join(
        _ loop: RunLoop, _ mode: RunLoop.Mode, port: AnyObject,
        deliver: @escaping (consuming MessagePort.Message) -> Void
    ) throws(SystemError) {
        if loop.hasEnded || isClosed { return }
        guard claim.take(for: loop) else {
            misuse("RunLoop.add(port): the port made at \(origin) is in another loop; remove it there first")
        }
        let joined = unsafe input ?? MessagePortInput(port, self, loop)
        do { try joined.input.join(mode, server: joined) } catch {
            if unsafe input == nil { claim.release() }
            throw error
        }
        unsafe input = joined
        setLoop(loop)
        joined.add(deliver, for: mode)
        joined.resume()
        // Another thread may have closed the port since the check above, and found no loop to take the port out of.
        if isClosed { joined.input.leave() }
    }

    /// Removes the port from a mode.
    ///
    /// Messages that were sent wait.
    func leave(_ mode: RunLoop.Mode) {
        guard claim.loopHere != nil, let input = unsafe input else { return }
        let removed = input.removeHandlers(for: mode)
        input.input.leave(mode)
        withExtendedLifetime(removed) {}
    }

    /// Releases the claim, because the port has left its loop.
    func hasLeft() {
        setLoop(nil)
        unsafe input = nil
        claim.release()
    }

    /// Sets the handler that the port's loop calls when an admitted peer has ended.
    func onPeerEnd(_ handler: @escaping (MessagePort.Peer) -> Void) {
        Fork.check("MessagePort.onPeerEnd")
        guard claim.loopHere != nil, let input = unsafe input else {
            // A port that has ended leaves its loop by itself, and so does every port when its loop ends.
            if isClosed || RunLoop.existing?.hasEnded == true { return }
            misuse(
                "MessagePort.onPeerEnd: the port made at \(origin) is not in this thread's loop; add it to the loop first, and call this on the loop's thread"
            )
        }
        let replaced = input.peerEnded
        input.peerEnded = handler
        // Released after the change, because its captures may call this again when they are destroyed.
        withExtendedLifetime(replaced) {}
    }
}
