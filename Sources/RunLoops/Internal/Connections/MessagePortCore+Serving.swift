// What a port does with what its set reports; by the loop that has the claim.

extension MessagePortCore {
    /// Serves one thing that is ready: one message at most.
    ///
    /// - Returns: Whether a handler was called.
    func serve(_ report: EpollSet.Report, for input: MessagePortInput, in loop: LoopCore) -> Bool {
        switch report.token {
        case MessagePortCore.listenerToken:
            accept(for: input, in: loop)
            return false
        case MessagePortCore.alarmToken: return alarmFired(input, loop)
        default:
            // Reported before it was removed.
            guard let connection = connection(report.token) else { return false }
            if report.readiness.contains(.writing) {
                sendKept(of: connection)
                if report.readiness == .writing { return false }
            }
            return receive(from: connection, input, loop)
        }
    }

    /// Sends replies that were kept, or has it tried again where the kernel has no means for it.
    private func sendKept(of connection: PortConnection) {
        let receiving = unsafe self.receiving
        let now = Moment.now()
        switch connection.sendKept(now: now, { receiving.resends.hasSent() }) {
        case .done: break
        case .lacksMeans:
            counters.add { $0.postponedReplies += 1 }
            _ = receiving.alarm.set(receiving.resends.append(connection.token, now: now))
        case .failed: log("cannot send a reply to \(connection.peer.credentials)")
        }
    }

    // MARK: - Time

    private func alarmFired(_ input: MessagePortInput, _ loop: LoopCore) -> Bool {
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
            if unsafe connection.life.isConnecting, receive(from: connection, input, loop) {
                calledHandler = true
            }
            if unsafe connection.life.isConnecting, !isClosed {
                counters.add { $0.silentPeers += 1 }
                refuse(connection, .tooSlow, input, loop)
            }
        }
        if let end = receiving.pauseEnd, end <= now { listenAgain() }
        for token in receiving.resends.takeDue(now: now) {
            if let connection = connection(token) { sendKept(of: connection) }
        }
        if let next = receiving.greetings.nextDeadline { _ = receiving.alarm.set(next) }
        if let next = receiving.pauseEnd { _ = receiving.alarm.set(next) }
        if let next = receiving.resends.due { _ = receiving.alarm.set(next) }
        return calledHandler
    }

    // MARK: - Receiving

    /// Reads one packet.
    ///
    /// - Returns: Whether a handler was called.
    private func receive(
        from connection: PortConnection, _ input: MessagePortInput, _ loop: LoopCore
    ) -> Bool {
        let packet = pool.take()
        // Safe: the packet is ours until it is handed on.
        switch unsafe connection.socket.receive(into: packet.memory) {
        case .packet(let length, let descriptors):
            do { try packet.fill(length: length, descriptors) } catch {
                pool.give(packet)
                return turnAway(connection, .malformed, "\(error)", input, loop)
            }
            return receive(packet, from: connection, input, loop)
        case .wouldBlock:
            pool.give(packet)
            return false
        case .end:
            pool.give(packet)
            return drop(connection, input, loop)
        case .tooLong(let length, let descriptors):
            DescriptorCloser.close(descriptors)
            pool.give(packet)
            return turnAway(connection, .tooLarge, "a packet of \(length) bytes", input, loop)
        case .lacksDescriptors(let descriptors):
            DescriptorCloser.close(descriptors)
            pool.give(packet)
            counters.add { $0.lackingDescriptors += 1 }
            log("no room for the descriptors of \(connection.peer.credentials)")
            return refuse(connection, .outOfResources, input, loop)
        case .failed(let error):
            pool.give(packet)
            log("cannot read from \(connection.peer.credentials): \(error)")
            return drop(connection, input, loop)
        }
    }

    private func receive(
        _ packet: Packet, from connection: PortConnection, _ input: MessagePortInput, _ loop: LoopCore
    ) -> Bool {
        switch unsafe connection.life.receive(packet.frame) {
        case .deliver:
            if packet.frame.kind == .request { packet.requester = connection }
            return deliver(packet, from: connection, input, loop)
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
            return drop(connection, input, loop)
        case .refuse(let refusal):
            let what = "a \(packet.frame.kind) of \(packet.frame.bodyLength) bytes"
            pool.give(packet)
            return turnAway(connection, refusal, what, input, loop)
        case .drop:
            pool.give(packet)
            return false
        case .answer: preconditionFailure("a port makes no requests")
        }
    }

    private func deliver(
        _ packet: Packet, from connection: PortConnection, _ input: MessagePortInput, _ loop: LoopCore
    ) -> Bool {
        guard let mode = loop.currentMode, let handler = input.handler(for: mode) else {
            preconditionFailure("a port has a handler for each mode it is in")
        }
        counters.messages.add()
        let isStream = packet.frame.kind == .message
        loop.inbox.counters.messages.add()
        loop.callHandler(origin) {
            handler.deliver(MessagePort.Message(packet, from: connection.peer, pool: pool))
        }
        // The handler may have had another loop take the port, whose thread has the claim then.
        if !input.isInLoop { return true }
        unsafe receiving.stream = isStream ? connection.token : nil
        unsafe receiving.asker = isStream ? nil : connection.token
        return true
    }

    // MARK: - Ending connections

    /// Ends a connection on which something came that breaks the rules.
    private func turnAway(
        _ connection: PortConnection, _ refusal: Frame.Refusal, _ what: String, _ input: MessagePortInput,
        _ loop: LoopCore
    ) -> Bool {
        counters.add { $0.malformedPackets += 1 }
        log("closes the connection of \(connection.peer.credentials): \(what)")
        return refuse(connection, refusal, input, loop)
    }

    /// Says why, if there is room, and closes the connection.
    @discardableResult
    private func refuse(
        _ connection: PortConnection, _ refusal: Frame.Refusal, _ input: MessagePortInput, _ loop: LoopCore
    ) -> Bool {
        _ = connection.socket.send(Frame(kind: .refusal, id: refusal.rawValue))
        return drop(connection, input, loop)
    }

    /// Forgets a connection, and tells whoever wants to know.
    ///
    /// - Returns: Whether a handler was called.
    private func drop(_ connection: PortConnection, _ input: MessagePortInput, _ loop: LoopCore) -> Bool {
        let wasAdmitted = connection.wasAdmitted
        if !remove(connection) { return false }
        // There is room for another one, and perhaps a descriptor.
        unsafe receiving.pause.reset()
        listenAgain()
        guard wasAdmitted, let peerEnded = input.peerEnded else { return false }
        loop.callHandler(origin) { peerEnded(connection.peer) }
        return true
    }

    func log(_ line: String) { complaints.say("MessagePort \"\(name)\" \(line)") }
}
