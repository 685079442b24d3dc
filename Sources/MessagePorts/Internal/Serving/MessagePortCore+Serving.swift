internal import RunLoops

// What a port does with what its set reports; by the loop that has the claim.

extension MessagePortCore {
    /// Serves one thing that is ready: one message at most.
    ///
    /// - Returns: Whether a handler was called.
    func serve(_ report: EpollSet.Report, for input: MessagePortInput) -> Bool {
        switch report.token {
        case MessagePortCore.listenerToken:
            accept(for: input)
            return false
        case MessagePortCore.alarmToken: return alarmFired(input)
        default:
            // Reported before it was removed.
            guard let connection = connection(report.token) else { return false }
            if report.readiness.contains(.writing) {
                sendKept(of: connection)
                if report.readiness == .writing { return false }
            }
            return receive(from: connection, input)
        }
    }

    /// Sends replies that were kept, or has it tried again where the kernel has no means for it.
    private func sendKept(of connection: PortConnection) {
        let receiving = unsafe self.receiving
        let now = Moment.now()
        switch connection.sendKept(now: now, { receiving.resends.hasSucceeded() }) {
        case .done: break
        case .lacksMeans:
            counters.add { $0.postponedReplies += 1 }
            _ = receiving.alarm.set(receiving.resends.append(connection.token, now: now))
        case .failed: log("cannot send a reply to \(connection.peer.credentials)")
        }
    }

    // MARK: - Time

    private func alarmFired(_ input: MessagePortInput) -> Bool {
        let receiving = unsafe self.receiving
        receiving.alarm.hasFired()
        let now = Moment.now()
        var calledHandler = false
        while let token = receiving.greetings.takeLate(now: now) {
            if isAskedAbout(token) {
                // The filter takes its time, which is not the connection's.
                expectGreeting(of: token, now: now)
                continue
            }
            guard let connection = connection(token) else { continue }
            // What came in time may not have been read yet: the loop may have been busy, or may not have run.
            if unsafe connection.life.isConnecting, receive(from: connection, input) {
                calledHandler = true
            }
            if unsafe connection.life.isConnecting, !isClosed {
                counters.add { $0.silentPeers += 1 }
                refuse(connection, .tooSlow, input)
            }
        }
        if let end = receiving.pauseEnd, end <= now { listenAgain() }
        for token in receiving.resends.takeDue(now: now) {
            if let connection = connection(token) { sendKept(of: connection) }
        }
        for token in receiving.heldBack.takeDue(now: now) { connection(token)?.readOn() }
        if let next = receiving.greetings.nextDeadline { _ = receiving.alarm.set(next) }
        if let next = receiving.pauseEnd { _ = receiving.alarm.set(next) }
        if let next = receiving.resends.due { _ = receiving.alarm.set(next) }
        if let next = receiving.heldBack.due { _ = receiving.alarm.set(next) }
        return calledHandler
    }

    // MARK: - Receiving

    /// Reads one packet.
    ///
    /// - Returns: Whether a handler was called.
    private func receive(
        from connection: PortConnection, _ input: MessagePortInput
    ) -> Bool {
        let allowance = connection.account.allowance(
            limit: limits.descriptors, untaken: limits.untakenDescriptors)
        // With something left to close, which is not the rule.
        if allowance != .any, connection.account.isStuck { return cutOff(connection, input) }
        let packet = pool.take()
        // Safe: the packet is ours until it is handed on.
        switch unsafe connection.socket.receive(into: packet.memory, allowance) {
        case .packet(let length, let descriptors):
            if !descriptors.isEmpty { unsafe receiving.heldBack.hasSucceeded() }
            do { try packet.fill(length: length, descriptors) } catch {
                pool.give(packet)
                return turnAway(connection, .malformed, "\(error)", input)
            }
            return receive(packet, from: connection, input)
        case .wouldBlock:
            pool.give(packet)
            return false
        case .end:
            pool.give(packet)
            return drop(connection, input)
        case .tooLong(let length, _):
            pool.give(packet)
            return turnAway(connection, .tooLarge, "a packet of \(length) bytes", input)
        case .exceedsAllowance:
            pool.give(packet)
            if allowance == .atMost(limits.descriptors) {
                let what = "a packet with more than \(limits.descriptors) descriptors"
                return turnAway(connection, .tooLarge, what, input)
            }
            holdBack(connection)
            return false
        case .lacksDescriptors:
            pool.give(packet)
            counters.add { $0.lackingDescriptors += 1 }
            log("no room for the descriptors of \(connection.peer.credentials)")
            return refuse(connection, .outOfResources, input)
        case .failed(let error):
            pool.give(packet)
            log("cannot read from \(connection.peer.credentials): \(error)")
            return drop(connection, input)
        }
    }

    private func receive(
        _ packet: Packet, from connection: PortConnection, _ input: MessagePortInput
    ) -> Bool {
        switch unsafe connection.life.receive(packet.frame) {
        case .deliver:
            if packet.frame.kind == .request { packet.requester = connection }
            return deliver(packet, from: connection, input)
        case .greet:
            connection.greeted(packet.frame.limits)
            // Before the welcome, after which they may come.
            if limits.descriptors > 0 { connection.socket.admitDescriptors() }
            counters.add { $0.admittedPeers += 1 }
            pool.give(packet)
            do {
                try connection.send(Frame(.welcome, limits: limits.told))
            } catch {
                // It is gone already, which the next look at it tells.
            }
            return false
        case .close:
            pool.give(packet)
            return drop(connection, input)
        case .refuse(let refusal):
            let what = "a \(packet.frame.kind) of \(packet.frame.bodyLength) bytes"
            pool.give(packet)
            return turnAway(connection, refusal, what, input)
        case .drop:
            pool.give(packet)
            return false
        case .answer: preconditionFailure("a port makes no requests")
        }
    }

    private func deliver(
        _ packet: Packet, from connection: PortConnection, _ input: MessagePortInput
    ) -> Bool {
        guard let mode = input.input.currentMode, let handler = input.handler(for: mode) else {
            preconditionFailure("a port has a handler for each mode it is in")
        }
        counters.messages.add()
        let isStream = packet.frame.kind == .message
        input.input.countMessage()
        input.input.callHandler(origin) {
            handler.deliver(MessagePort.Message(packet, from: connection.peer, pool: pool))
        }
        // The handler may have had another loop take the port, whose thread has the claim then.
        if !input.isInLoop { return true }
        unsafe receiving.stream = isStream ? connection.token : nil
        unsafe receiving.asker = isStream ? nil : connection.token
        return true
    }

    /// Reads nothing from a connection for now: its next packet carries descriptors, and too many are neither taken nor
    /// closed.
    ///
    /// Its sender waits as it does when the port is not served.
    private func holdBack(_ connection: PortConnection) {
        if !connection.holdBack() { return }
        let receiving = unsafe self.receiving
        _ = receiving.alarm.set(receiving.heldBack.append(connection.token, now: Moment.now()))
    }

    // MARK: - Ending connections

    /// Ends a connection whose peer has sent descriptors that cannot be closed.
    private func cutOff(_ connection: PortConnection, _ input: MessagePortInput) -> Bool {
        counters.add { $0.unclosablePeers += 1 }
        let peer = connection.peer.credentials
        log("closes the connection of \(peer): descriptors that it has sent cannot be closed")
        return refuse(connection, .outOfResources, input)
    }

    /// Ends a connection on which something came that breaks the rules.
    private func turnAway(
        _ connection: PortConnection, _ refusal: Frame.Refusal, _ what: String, _ input: MessagePortInput
    ) -> Bool {
        counters.add { $0.malformedPackets += 1 }
        log("closes the connection of \(connection.peer.credentials): \(what)")
        return refuse(connection, refusal, input)
    }

    /// Says why, if there is room, and closes the connection.
    @discardableResult
    private func refuse(
        _ connection: PortConnection, _ refusal: Frame.Refusal, _ input: MessagePortInput
    ) -> Bool {
        _ = connection.socket.send(Frame(kind: .refusal, id: refusal.rawValue))
        return drop(connection, input)
    }

    /// Forgets a connection, and tells whoever wants to know.
    ///
    /// - Returns: Whether a handler was called.
    private func drop(_ connection: PortConnection, _ input: MessagePortInput) -> Bool {
        let wasAdmitted = connection.wasAdmitted
        if !remove(connection) { return false }
        // There is room for another one, and perhaps a descriptor.
        unsafe receiving.pause.reset()
        listenAgain()
        guard wasAdmitted, let peerEnded = input.peerEnded else { return false }
        input.input.callHandler(origin) { peerEnded(connection.peer) }
        return true
    }

    func log(_ line: @autoclosure () -> String) { reports.report("MessagePort \"\(name)\" \(line())") }
}
