// Adding a port to the modes of a loop, and removing it.

extension PortCore {
    /// Adds the port to a mode of a loop.
    func join(
        _ loop: ReadyInputs, _ mode: Mode, port: AnyObject, deliver: @escaping (Node.Slot) -> Void
    ) {
        if loop.members.hasEnded || isClosed { return }
        guard receiver.claim.take(for: loop.handle) else {
            // Another thread has closed the port since the check, and holds the claim while it destroys the queue.
            if isClosed { return }
            misuse(
                "RunLoop.add(port): the port made at \(origin) is in a set or is in another loop; remove it there first"
            )
        }
        let joined: PortInput
        if let known = unsafe receiver.state.value.input {
            joined = known
        } else {
            joined = PortInput(port, self, loop.handle)
            unsafe receiver.state.value.input = joined
        }
        joined.add(deliver, for: mode)
        loop.add(joined, to: mode)
        joined.arm(in: loop)
        // Another thread can have closed the port since the first check, and found no loop to signal.
        if isClosed { loop.members.remove(joined) }
    }

    /// Removes the port from a mode of a loop.
    ///
    /// The port keeps its messages.
    func leave(_ loop: LoopMembers, _ mode: Mode) {
        guard receiver.claim.isHeld(by: loop.handle), let input = unsafe receiver.state.value.input else {
            return
        }
        let removed = input.removeHandlers(for: mode, in: loop)
        loop.remove(input, from: mode)
        withExtendedLifetime(removed) {}
    }

    /// Removes the port from all modes of a loop.
    func leaveAll(_ loop: LoopMembers) {
        leave(loop, .common)
        guard receiver.claim.isHeld(by: loop.handle), let input = unsafe receiver.state.value.input else {
            return
        }
        for mode in input.membership.modes { leave(loop, mode) }
    }
}
