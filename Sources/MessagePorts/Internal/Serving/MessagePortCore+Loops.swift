internal import RunLoops

// A port in a loop: joining, leaving, and the handlers that the loop calls for a peer or for the loss of the name.

extension MessagePortCore {
    /// Adds the port to a mode of a loop.
    func join(
        _ loop: RunLoop, _ mode: RunLoop.Mode, port: MessagePort,
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
        // Another thread may have closed the port since the check above, and found no loop from which to remove the port.
        if isClosed { joined.input.leave() }
    }

    /// Removes the port from a mode.
    ///
    /// While the port is in no mode, messages to it wait.
    func leave(_ mode: RunLoop.Mode) {
        guard claim.loopHere != nil, let input = unsafe input else { return }
        let removed = input.removeHandlers(for: mode)
        input.input.leave(mode)
        withExtendedLifetime(removed) {}
    }

    /// Removes the port from all its modes.
    func leaveAll() {
        leave(.common)
        guard claim.loopHere != nil, let input = unsafe input else { return }
        for mode in input.input.modes { leave(mode) }
    }

    /// Releases the claim, because the port has left its loop.
    func hasLeft() {
        setLoop(nil)
        unsafe input = nil
        claim.release()
    }

    /// Sets the handler that the port's loop calls when a peer has ended, or when a peer has room again.
    ///
    /// - Parameters:
    ///   - member: The public function that the program has called, for the message about a misuse.
    ///   - place: The property that holds the handler.
    ///   - handler: The handler.
    func setHandler(
        _ member: StaticString,
        _ place: ReferenceWritableKeyPath<MessagePortInput, ((MessagePort, MessagePort.Peer) -> Void)?>,
        _ handler: @escaping (MessagePort, MessagePort.Peer) -> Void
    ) {
        guard let input = inputHere(member) else { return }
        let replaced = exchange(&input[keyPath: place], with: handler)
        // The old handler is released after the change, because its captures can call this function again when they are destroyed.
        withExtendedLifetime(replaced) {}
    }

    /// Sets the handler that the port's loop calls when the program has its turn.
    func onTurn(_ handler: @escaping MessagePortInput.TurnHandler) {
        guard let input = inputHere("MessagePort.onTurn") else { return }
        withExtendedLifetime(exchange(&input.turn, with: handler)) {}
    }

    /// Gives the program a turn among the peers that have sent messages.
    func giveTurn() {
        guard let input = inputHere("MessagePort.giveTurn") else { return }
        unsafe reads.turn.ask()
        input.input.becameReady()
    }

    func pauseReading(_ peer: MessagePort.Peer) {
        guard inputHere("MessagePort.pauseReading") != nil, let connection = connection(of: peer) else {
            return
        }
        unsafe reads.turn.pause(peer.id)
        connection.holdBack(for: .program)
    }

    func resumeReading(_ peer: MessagePort.Peer) {
        guard inputHere("MessagePort.resumeReading") != nil, let connection = connection(of: peer) else {
            return
        }
        unsafe reads.turn.resume(peer.id)
        connection.resumeReading(after: .program)
    }

    /// Sets the handler that the port's loop calls when the name is lost.
    func onNameLoss(_ handler: @escaping (MessagePort) -> Void) throws(SystemError) {
        guard let input = inputHere("MessagePort.onNameLoss"), let listener else { return }
        try input.watchName(of: listener)
        let replaced = exchange(&input.nameLost, with: handler)
        // The name may have been lost before it was watched.
        unsafe reads.reports.append(EpollSet.Report(token: MessagePortCore.nameToken, readiness: .reading))
        input.input.becameReady()
        withExtendedLifetime(replaced) {}
    }

    /// Returns the ``MessagePortInput`` of the port, which must be in this thread's loop.
    ///
    /// - Parameter member: The public function that the program has called, for the message about a misuse.
    /// - Returns: The input, or nil if the port or the loop has ended.
    private func inputHere(_ member: StaticString) -> MessagePortInput? {
        Fork.check(member)
        if claim.loopHere != nil, let input = unsafe input { return input }
        // A port leaves its loop by itself when the port or the loop ends.
        if isClosed || RunLoop.existing?.hasEnded == true { return nil }
        misuse(
            "\(member): the port made at \(origin) is not in this thread's loop; add it to the loop first, and call this on the loop's thread"
        )
    }
}
