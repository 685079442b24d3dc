internal import Glibc
internal import RunLoops

// What comes back to a sender; read by whoever has the role of the reader.

extension RemoteConnection {
    /// Reads until nothing is left, or enough for once, and gives the role up.
    ///
    /// If there is more, whoever reads next finds it.
    func readAll() {
        var rest = 64
        while rest > 0, readOne() { rest -= 1 }
        stopReading()
    }

    /// Reads one packet, and tells who waits for it.
    ///
    /// - Parameter waits: Whether to wait until there is one.
    /// - Returns: Whether there may be more.
    func readOne(waits: Bool = false) -> Bool {
        let allowance = account.allowanceOfReply(limit: mostDescriptors)
        let packet = pool.take()
        // Safe: the packet is ours until it is handed on.
        switch unsafe socket.receive(into: packet.memory, allowance, waits: waits) {
        case .packet(let length, let descriptors):
            do { try packet.fill(length: length, descriptors) } catch {
                pool.give(packet)
                return turnAway("\(error)")
            }
            return take(packet)
        case .wouldBlock:
            pool.give(packet)
            return false
        case .end:
            pool.give(packet)
            end(.ended)
            return false
        case .tooLong(let length, _):
            pool.give(packet)
            return turnAway("a packet of \(length) bytes")
        case .exceedsAllowance:
            pool.give(packet)
            if allowance == .atMost(mostDescriptors) {
                return turnAway("a packet with more than \(mostDescriptors) descriptors")
            }
            endForLackOfDescriptors()
            return false
        case .lacksDescriptors:
            pool.give(packet)
            endForLackOfDescriptors()
            return false
        case .failed(let error):
            pool.give(packet)
            end(.system(error))
            return false
        }
    }

    /// A reply cannot be received; which request it would have answered is lost with it.
    private func endForLackOfDescriptors() { end(.system(SystemError(call: "recvmsg", code: EMFILE))) }

    private func take(_ packet: Packet) -> Bool {
        let frame = packet.frame
        let isReply = frame.kind == .reply
        let (action, waiter) = state.withLock { state -> (ConnectionLife.Action, PendingRequest.Waiter?) in
            let action = state.life.receive(frame)
            guard action == .answer, let request = state.requests.take(frame.number) else {
                return (action, nil)
            }
            return (action, request.decide(isReply ? .reply(packet) : .failure(.noReply)))
        }
        switch action {
        case .answer:
            if !isReply || waiter == nil { pool.give(packet) }
            waiter?.wake()
            return true
        case .close(let refusal):
            pool.give(packet)
            end(MessagePortError(refusal))
            return false
        case .refuse:
            pool.give(packet)
            return turnAway("a \(frame.kind) of \(frame.bodyLength) bytes")
        case .drop:
            pool.give(packet)
            return false
        case .greet, .deliver: preconditionFailure("a sender is greeted once, and gets no messages")
        }
    }

    private func turnAway(_ what: String) -> Bool {
        reports.report("RemotePort \"\(name)\" closes the connection with \(peer): \(what)")
        end(.notAPort)
        return false
    }

    /// Makes a message of a reply, if it is one.
    func message(_ outcome: PendingRequest.Outcome) throws(MessagePortError) -> MessagePort.Message {
        switch outcome {
        case .reply(let packet):
            MessagePort.Message(packet, from: MessagePort.Peer(connection: 0, credentials: peer), pool: pool)
        case .failure(let reason): throw reason
        }
    }

    // MARK: - The service

    /// Has the service know this connection, so that tasks and those who want to hear of the end are told.
    func needService() throws(SystemError) {
        if state.withLock({ $0.watch != nil || $0.ended != nil }) { return }
        let service = try ConnectionService.shared()
        try state.withLock { state throws(SystemError) in
            if state.watch != nil || state.ended != nil { return }
            // Under the lock, though it is a system call: two threads would add the same descriptor, or one would add what the
            // end has taken out before.
            state.watch = Watch(service: service, token: try service.add(self))
        }
    }

    /// Whoever has read gives the role up, and has somebody else take it if something is waited for.
    func stopReading() {
        let gate = state.withLock { state in
            state.role.giveUp()
            return nextReader(&state)
        }
        gate?.open()
    }

    /// If something is waited for and nobody reads, has somebody do it.
    func seeThatSomebodyReads() { state.withLock { nextReader(&$0) }?.open() }

    /// Who is to read, if nobody does: a thread, whose gate the caller opens, or the service.
    private func nextReader(_ state: inout State) -> ThreadGate? {
        if state.ended != nil { return nil }
        let gate = state.requests.firstGate
        switch state.role.next(threadWaits: gate != nil, wish: state.watch == nil ? [] : state.wish) {
        case .nothing: return nil
        case .nudgeThread: return gate
        case .announce(let wish):
            if let watch = state.watch { announce(wish, watch) }
            return nil
        }
    }

    /// Has the kernel tell the service once.
    ///
    /// Under the lock, though it is a system call. Of two threads that state different wishes the last one has to be the last
    /// to tell the kernel, or the service would not hear of a reply.
    private func announce(_ wish: ReaderRole.Wish, _ watch: Watch) {
        let interest: EpollSet.Interest = wish.contains(.replies) ? [.reading, .once] : [.hangUp, .once]
        do { try watch.service.set.change(socket.descriptor, interest, token: watch.token) } catch {
            preconditionFailure("what is in the set can be changed there: \(error)")
        }
    }

    /// The kernel has told the service that something has come, or that the end has.
    ///
    /// The service's thread.
    func serviceIsTold() {
        if state.withLock({ $0.role.takeForService() }) { readAll() } else { seeThatSomebodyReads() }
    }
}
