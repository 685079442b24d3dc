internal import RunLoops

// Serving the events that the port's set reports, on the thread of the loop that has the claim.

extension MessagePortCore {
    /// Serves one event that the port's set has reported, and delivers at most one message.
    ///
    /// - Returns: True if a handler was called.
    func serve(
        _ report: EpollSet.Report, for input: MessagePortInput, _ budget: inout Budget
    ) -> Bool {
        switch report.token {
        case MessagePortCore.listenerToken:
            accept(for: input, &budget)
            return false
        case MessagePortCore.alarmToken: return alarmFired(input)
        case MessagePortCore.nameToken: return checkName(input)
        case MessagePortCore.turnToken: return serveTurn(input, &budget)
        default:
            // Nil if the connection was removed after it was reported.
            guard let connection = connection(report.token) else { return false }
            var calledHandler = false
            if report.readiness.contains(.writing) {
                sendBacklog(of: connection)
                calledHandler = reportRoom(of: connection, input)
                // The handler may have moved the port to another loop, and another thread may have removed the port.
                if report.readiness == .writing || !input.input.isServedNow { return calledHandler }
            }
            if unsafe reads.turn.isPaused(connection.token), !connection.isCutOff {
                return calledHandler
            }
            return receive(from: connection, input) || calledHandler
        }
    }

    /// Calls the handler ``MessagePortInput/turn``.
    private func serveTurn(_ input: MessagePortInput, _ budget: inout Budget) -> Bool {
        unsafe reads.turn.take()
        guard let handler = input.turn else { return false }
        input.input.callHandler(origin) { handler(&budget) }
        return true
    }

    /// Calls the handler ``MessagePortInput/peerHasRoom`` if a message to this peer was refused before and there is room now.
    ///
    /// - Returns: True if the handler was called.
    private func reportRoom(of connection: PortConnection, _ input: MessagePortInput) -> Bool {
        guard input.isInLoop, !isClosed, let handler = input.peerHasRoom, connection.takeRoomNotice() else {
            return false
        }
        input.input.callHandler(origin) { handler(input.port, connection.peer) }
        return true
    }

    /// Sends the packets of a connection's backlog.
    ///
    /// If the kernel is out of resources, the port sends the rest later, when the alarm of its ``PortDeadlines`` fires.
    private func sendBacklog(of connection: PortConnection) {
        let deadlines = unsafe reads.deadlines
        let now = Moment.now()
        switch connection.sendBacklog(now: now, { deadlines.replyWasSent() }) {
        case .done: break
        case .outOfKernelResources:
            counters.add { $0.postponedReplies += 1 }
            deadlines.resendReplies(of: connection.token, now: now)
        case .failed:
            log("cannot send to \(connection.peer.credentials)", about: connection.peer.credentials)
        }
    }

    /// Calls the handler ``MessagePortInput/nameLost`` if the port has lost its name.
    ///
    /// - Returns: True if the handler was called.
    private func checkName(_ input: MessagePortInput) -> Bool {
        input.drainNameWatch()
        guard let handler = input.nameLost, let listener, !listener.hasName else { return false }
        input.nameLost = nil
        input.unwatchName()
        log("has lost its name: its socket, its lock or their directory is not in its place any more")
        input.input.callHandler(origin) { handler(input.port) }
        return true
    }

    // MARK: - Time

    private func alarmFired(_ input: MessagePortInput) -> Bool {
        let deadlines = unsafe reads.deadlines
        deadlines.alarmFired()
        let now = Moment.now()
        var calledHandler = false
        while let token = deadlines.takeLateGreeting(now: now) {
            if isUndecided(token) {
                // The time that the filter takes does not count against the connection.
                expectGreeting(of: token, now: now)
                continue
            }
            guard let connection = connection(token) else { continue }
            // It is possible that a packet arrived in time and was not read yet, because the loop was busy or did not run.
            if unsafe connection.state.isConnecting, receive(from: connection, input) {
                calledHandler = true
            }
            if unsafe connection.state.isConnecting, !isClosed {
                counters.add { $0.silentPeers += 1 }
                refuse(connection, .tooSlow, input)
            }
        }
        if let moment = deadlines.listenAgain, moment <= now { listenAgain() }
        let resent = deadlines.takeDueResends(now: now).compactMap { connection($0) }
        for connection in resent { sendBacklog(of: connection) }
        for token in deadlines.takeDueHeldBack(now: now) {
            connection(token)?.resumeReading(after: .descriptors)
        }
        deadlines.rearm()
        // The handlers are called last, because a handler can move the port, with its deadlines, to another loop.
        for connection in resent where input.input.isServedNow && reportRoom(of: connection, input) {
            calledHandler = true
        }
        return calledHandler
    }

    // MARK: - Receiving

    /// Reads one packet from a connection, and handles the packet.
    ///
    /// - Returns: True if a handler was called.
    private func receive(from connection: PortConnection, _ input: MessagePortInput) -> Bool {
        if isClosed { return false }
        if connection.isCutOff { return disconnect(connection, input) }
        let allowance = connection.quota.allowance(
            limit: limits.descriptorLimit, untaken: limits.untakenDescriptorLimit)
        // Usually no descriptors are counted, and then this check is skipped.
        if allowance != .any, connection.quota.isStuck { return cutOff(connection, input) }
        switch pool.receive(from: connection.socket, allowance, limit: limits.descriptorLimit) {
        case .packet(let packet):
            if !packet.descriptors.isEmpty { unsafe reads.deadlines.descriptorsWereReceived() }
            return handle(packet, from: connection, input)
        case .wouldBlock: return false
        case .end: return disconnect(connection, input)
        case .violation(let violation): return turnAway(connection, violation, input)
        case .exceedsAllowance:
            // The packet stays in the kernel until the connection is read again. If its sender sends more than the kernel has room
            // for, the sender blocks, as it does while the port is not served.
            if connection.holdBack(for: .descriptors) {
                unsafe reads.deadlines.holdBack(connection.token, now: Moment.now())
            }
            return false
        case .outOfDescriptors:
            counters.add { $0.lackingDescriptors += 1 }
            log(
                "cannot open the descriptors of a message of \(connection.peer.credentials)",
                about: connection.peer.credentials)
            return refuse(connection, .outOfResources, input)
        case .failed(let error):
            log(
                "cannot read from \(connection.peer.credentials): \(error)",
                about: connection.peer.credentials)
            return disconnect(connection, input)
        }
    }

    private func handle(
        _ packet: Packet, from connection: PortConnection, _ input: MessagePortInput
    ) -> Bool {
        let frame = packet.frame
        let action = unsafe connection.state.receive(frame)
        if action == .deliver { return deliver(packet, from: connection, input) }
        pool.give(packet)
        switch action {
        case .greet:
            welcome(connection, frame.limits)
            return false
        case .close: return disconnect(connection, input)
        case .refuse(let refusal): return turnAway(connection, PacketViolation(frame, refusal), input)
        case .drop: return false
        case .deliver, .answer:
            preconditionFailure("a message was delivered above, and a port makes no requests")
        }
    }

    /// Admits a peer whose greeting, its first packet, has arrived.
    private func welcome(_ connection: PortConnection, _ peerLimits: Frame.Limits) {
        connection.greeted(peerLimits)
        // This comes before the welcome packet is sent, because that packet allows the peer to send descriptors.
        if limits.descriptorLimit > 0 { connection.socket.allowDescriptors() }
        counters.add { $0.admittedPeers += 1 }
        do {
            try connection.send(Frame(.welcome, limits: limits.advertised))
        } catch {
            // The peer has ended already. The next read of its connection finds that.
        }
    }

    private func deliver(
        _ packet: Packet, from connection: PortConnection, _ input: MessagePortInput
    ) -> Bool {
        guard let mode = input.input.currentMode, let handler = input.handler(for: mode) else {
            preconditionFailure("a port has a handler for each mode it is in")
        }
        counters.messages.add()
        let isRequest = packet.frame.kind == .request
        input.input.countMessage()
        input.input.callHandler(origin) {
            handler.deliver(
                MessagePort.Message(
                    packet, from: connection.peer, requester: isRequest ? connection : nil, pool: pool))
        }
        // The handler may have moved the port to another loop, whose thread then has the claim.
        if !input.isInLoop { return true }
        unsafe reads.lastSender = isRequest ? nil : connection.token
        unsafe reads.lastRequester = isRequest ? connection.token : nil
        return true
    }

    // MARK: - Ending connections

    /// Ends a connection because closing the descriptors that its peer has sent takes too long.
    private func cutOff(_ connection: PortConnection, _ input: MessagePortInput) -> Bool {
        counters.add { $0.unclosablePeers += 1 }
        let peer = connection.peer.credentials
        log("closes the connection of \(peer): descriptors that it has sent cannot be closed", about: peer)
        return refuse(connection, .outOfResources, input)
    }

    /// Ends a connection because a packet that breaks the rules has arrived on it.
    private func turnAway(
        _ connection: PortConnection, _ violation: PacketViolation, _ input: MessagePortInput
    ) -> Bool {
        counters.add { $0.malformedPackets += 1 }
        log(
            "closes the connection of \(connection.peer.credentials): \(violation)",
            about: connection.peer.credentials)
        return refuse(connection, violation.refusal, input)
    }

    /// Sends the peer the reason of the refusal if there is room, and closes the connection.
    @discardableResult
    private func refuse(
        _ connection: PortConnection, _ refusal: Frame.Refusal, _ input: MessagePortInput
    ) -> Bool {
        _ = connection.socket.send(Frame(kind: .refusal, id: refusal.rawValue))
        return disconnect(connection, input)
    }

    /// Closes and removes a connection, and calls the handler ``MessagePortInput/peerEnded`` if the peer had been admitted.
    ///
    /// - Returns: True if a handler was called.
    private func disconnect(_ connection: PortConnection, _ input: MessagePortInput) -> Bool {
        let wasAdmitted = connection.wasAdmitted
        if !remove(connection) { return false }
        unsafe reads.turn.resume(connection.token)
        // There is a place for another connection, and perhaps a free descriptor.
        unsafe reads.deadlines.resetAcceptBackoff()
        listenAgain()
        guard wasAdmitted, let peerEnded = input.peerEnded else { return false }
        input.input.callHandler(origin) { peerEnded(input.port, connection.peer) }
        return true
    }
}
