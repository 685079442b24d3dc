internal import Glibc
internal import RunLoops

// Reading replies, on the thread that has the role of the reader.

extension RemoteConnection {
    /// Reads the packets that have arrived, at most 64, and releases the ``ReaderRole``.
    ///
    /// If more packets have arrived, the next reader reads them.
    func readAll() {
        var rest = 64
        while rest > 0, readOne() { rest -= 1 }
        stopReading()
    }

    /// Reads one packet, and if the packet answers a request, wakes the thread or task that waits for the answer.
    ///
    /// A message is discarded, and counted: no loop reads this connection, so there is no handler for messages.
    ///
    /// - Parameter waits: True if the call blocks until there is a packet.
    /// - Returns: True if more packets may wait.
    func readOne(waits: Bool = false) -> Bool {
        switch read(waits: waits) {
        case .message(let packet):
            pool.give(packet)
            state.withLock { $0.discardedMessageCount += 1 }
            return true
        case .handled: return true
        case .nothing: return false
        }
    }

    /// The result of reading one packet.
    enum Read {
        /// A message from the port, which the caller owns.
        case message(Packet)
        /// A packet that needs nothing more from the caller: a reply, the notice that there will be no reply, or the port's
        /// welcome. More packets may wait.
        case handled
        /// No packet waits, or the connection has ended.
        case nothing
    }

    /// Reads one packet, and if the packet answers a request, wakes the thread or task that waits for the answer.
    ///
    /// Only the reader of the connection calls this; see ``ReaderRole``.
    ///
    /// - Parameter waits: True if the call blocks until there is a packet.
    /// - Returns: The result.
    func read(waits: Bool = false) -> Read {
        let allowance = quota.allowanceOfReply(limit: mostDescriptors)
        switch pool.receive(from: socket, allowance, limit: mostDescriptors, waits: waits) {
        case .packet(let packet): return handle(packet)
        case .wouldBlock: return .nothing
        case .end: return over(MessagePortError(.ended))
        case .violation(let violation): return turnAway(violation)
        case .exceedsAllowance, .outOfDescriptors:
            // A reply cannot be received, and neither can its head, which states the request that the reply answers. As that
            // request is unknown, it cannot be made to fail alone: the connection ends, and every request fails.
            return over(.system(SystemError(call: "recvmsg", code: EMFILE)))
        case .failed(let error): return over(.system(error))
        }
    }

    private func handle(_ packet: Packet) -> Read {
        let frame = packet.frame
        let isReply = frame.kind == .reply
        let (action, waiter) = state.withLock { state -> (ConnectionState.Action, PendingRequest.Waiter?) in
            let action = state.connection.receive(frame)
            if action == .greet { state.limits = frame.limits }
            guard action == .answer, let request = state.requests.take(frame.number) else {
                return (action, nil)
            }
            return (action, request.decide(isReply ? .reply(packet) : .failure(MessagePortError(.noReply))))
        }
        if action == .deliver { return .message(packet) }
        // A reply whose request was found belongs to the requester from here on. Any other packet returns to the pool.
        if !isReply || waiter == nil { pool.give(packet) }
        switch action {
        case .answer:
            waiter?.wake()
            return .handled
        case .greet:
            reading?.admitted(socket)
            return .handled
        case .close(let refusal): return over(MessagePortError(closedFor: refusal))
        case .refuse(let refusal): return turnAway(PacketViolation(frame, refusal))
        case .drop: return .nothing
        case .deliver: preconditionFailure("a message was returned above")
        }
    }

    /// Ends the connection for a reason, and returns ``Read/nothing``.
    private func over(_ reason: MessagePortError) -> Read {
        end(reason)
        return .nothing
    }

    /// Ends the connection, because a packet has broken the rules of the protocol.
    private func turnAway(_ violation: PacketViolation) -> Read {
        log.report(
            "RemotePort \"\(name)\" closes the connection with \(peer): \(violation)",
            RateLimitedLog.details(ofPort: name, peer: peer))
        return over(MessagePortError(.notAPort))
    }

    /// Makes a message from a packet that the port has sent.
    func message(_ packet: Packet) -> MessagePort.Message {
        MessagePort.Message(
            packet, from: MessagePort.Peer(id: 0, credentials: peer), requester: nil, pool: pool)
    }

    /// Returns the message of a reply, or throws the reason that there is no reply.
    func message(_ outcome: PendingRequest.Outcome) throws(MessagePortError) -> MessagePort.Message {
        switch outcome {
        case .reply(let packet): message(packet)
        case .failure(let reason): throw reason
        }
    }

    // MARK: - The service

    /// Makes the ``ConnectionService`` watch this connection, unless a loop reads the connection.
    ///
    /// The service watches for the replies that tasks wait for, and for the end of the connection.
    func watchWithService() throws(SystemError) {
        if reading != nil { return }
        if state.withLock({ $0.watch != nil || $0.ended != nil }) { return }
        let service = try ConnectionService.shared()
        try state.withLock { state throws(SystemError) in
            if state.watch != nil || state.ended != nil { return }
            // The descriptor is added under the lock, although that is a system call. Otherwise two threads could add it, or a
            // thread could add it after `end` has ended the connection and stopped the watch.
            state.watch = Watch(service: service, token: try service.add(self))
        }
    }

    /// Releases the ``ReaderRole``, and chooses another reader if one is needed.
    func stopReading() {
        let gate = state.withLock { state in
            state.role.release()
            return nextReader(&state)
        }
        gate?.open()
    }

    /// Chooses a reader if the connection has none but needs one.
    ///
    /// A reader is needed while a request waits for its reply, or a handler waits for the end of the connection.
    func ensureReader() { state.withLock { nextReader(&$0) }?.open() }

    /// Chooses a waiting thread or the service as the next reader, if the connection has none but needs one.
    ///
    /// - Returns: The gate of the chosen thread, which the caller must open; nil if no thread was chosen.
    private func nextReader(_ state: inout State) -> ThreadGate? {
        if state.ended != nil { return nil }
        let gate = state.requests.firstGate
        switch state.role.next(
            threadWaits: gate != nil, interest: state.watch == nil ? [] : state.serviceInterest)
        {
        case .nothing: return nil
        case .wakeThread: return gate
        case .notifyService(let interest):
            if let watch = state.watch { notifyService(interest, watch) }
            return nil
        }
    }

    /// Makes the kernel notify the service once: when packets arrive, or when the connection ends.
    ///
    /// The caller holds the lock during the system call. Two threads can ask for different events. The thread that changes the
    /// state last must then also be the last to call the kernel. Otherwise the kernel would not notify the service of a reply.
    private func notifyService(_ interest: ReaderRole.ServiceInterest, _ watch: Watch) {
        let events: EpollSet.Interest = interest.contains(.replies) ? [.reading, .once] : [.hangUp, .once]
        do { try watch.service.set.change(socket.descriptor, events, token: watch.token) } catch {
            preconditionFailure("the interest of a watched descriptor can be changed: \(error)")
        }
    }

    /// Reads the packets that have arrived.
    ///
    /// The service calls this on its thread, after the kernel has notified it. If the service cannot take the ``ReaderRole``, this
    /// method makes sure that the connection has a reader if it needs one.
    func serviceWasNotified() {
        if state.withLock({ $0.role.acquireForService() }) { readAll() } else { ensureReader() }
    }
}
