// What a port does with what its set reports; by the loop that has the claim.

extension MessagePortCore {
    /// How many connections are taken before messages have their turn again.
    private static let acceptedAtOnce = 16

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

    // MARK: - Accepting

    private func accept(for input: MessagePortInput, in loop: LoopCore) {
        let receiving = unsafe self.receiving
        guard receiving.isListening, let registration else { return }
        for _ in 0..<MessagePortCore.acceptedAtOnce {
            if isFull { return stopListening(registration) }
            switch registration.accept() {
            case .connection(let socket):
                receiving.pause.reset()
                admit(socket, for: input, in: loop)
            case .none: return
            case .outOfResources(let error):
                counters.add { $0.lackingDescriptors += 1 }
                log("cannot take a connection: \(error)")
                return stopListening(registration, for: receiving.pause.begin())
            case .failed(let error):
                log("cannot take a connection: \(error)")
                return stopListening(registration, for: receiving.pause.begin())
            }
            // The filter may have ended the port, or have had another loop take it.
            if isClosed || !input.isInLoop { return }
        }
    }

    private func admit(_ socket: consuming PacketSocket, for input: MessagePortInput, in loop: LoopCore) {
        let credentials: PeerCredentials
        do { credentials = try socket.peer } catch { return log("cannot tell who connects: \(error)") }
        // Before the filter is asked, which may run the loop and come here again.
        guard let number = takePlace(for: credentials) else {
            counters.add { $0.excessConnections += 1 }
            log("refuses \(credentials), which has as many connections as it may have")
            return refuse(socket, .tooManyConnections)
        }
        // This, too: the filter may have another loop take the port, whose thread has the claim then.
        expectGreeting(of: number, now: Moment.now())
        var isWelcome = false
        loop.callHandler(origin) { isWelcome = admits(credentials) }
        if !isWelcome {
            giveBackPlace(number, of: credentials)
            if input.isInLoop { unsafe receiving.greetings.forget(number) }
            placeBecameFree(for: input)
            counters.add { $0.refusedPeers += 1 }
            refuse(socket, .notAdmitted)
            return
        }
        guard let connection = add(socket, number, of: credentials) else { return }
        do {
            try set.add(connection.socket.descriptor, .reading, token: connection.token)
        } catch {
            log("cannot watch the connection of \(credentials): \(error)")
            _ = remove(connection)
            placeBecameFree(for: input)
        }
    }

    /// Whoever has the port by now may accept again.
    private func placeBecameFree(for input: MessagePortInput) {
        if input.isInLoop { listenAgain() } else { placeBecameFreeElsewhere() }
    }

    /// Gives a connection its time to say what it is.
    private func expectGreeting(of connection: UInt64, now: Moment) {
        let deadline = now.advanced(by: limits.greeting.nanosecondsRoundedUp)
        let receiving = unsafe self.receiving
        receiving.greetings.append(connection, deadline: deadline)
        _ = receiving.alarm.set(deadline)
    }

    /// Nobody more is accepted until a connection has gone, or for some time.
    private func stopListening(_ registration: Registration, for pause: Duration? = nil) {
        let receiving = unsafe self.receiving
        receiving.isListening = false
        registration.unwatch(in: set)
        if let pause {
            let end = Moment.now().advanced(by: pause.nanosecondsRoundedUp)
            receiving.pauseEnd = end
            _ = receiving.alarm.set(end)
        }
    }

    /// Accepts again, if there was no place for anybody or no descriptor.
    func listenAgain() {
        let receiving = unsafe self.receiving
        guard !receiving.isListening, let registration else { return }
        do {
            try registration.watch(in: set)
            receiving.isListening = true
            receiving.pauseEnd = nil
        } catch {
            // No memory: asked again later.
            let end = Moment.now().advanced(by: receiving.pause.begin().nanosecondsRoundedUp)
            receiving.pauseEnd = end
            _ = receiving.alarm.set(end)
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
        counters.add { $0.messages += 1 }
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

    private func refuse(_ socket: borrowing PacketSocket, _ refusal: Frame.Refusal) {
        _ = socket.send(Frame(kind: .refusal, id: refusal.rawValue))
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

    private func log(_ line: String) { complaints.say("MessagePort \"\(name)\" \(line)") }
}
