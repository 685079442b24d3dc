internal import RunLoops

// Accepting connections, on the thread of the loop that has the claim.
//
// The filter is the user's code. While the filter runs, another loop can take over the port.

extension MessagePortCore {
    /// The largest number of connections that are accepted in a row before messages are served again.
    private static let acceptedAtOnce = 16

    /// Accepts the connections that wait at the listener, and asks the filter about each.
    func accept(for input: MessagePortInput, _ budget: inout Budget) {
        let deadlines = unsafe reads.deadlines
        guard deadlines.isListening, let listener else { return }
        for _ in 0..<MessagePortCore.acceptedAtOnce {
            if isFull { return stopListening(listener, pausing: false) }
            // Accepting takes longer than a message, so each connection counts. The set reports those that are left again.
            if !budget.spend() { return }
            // When the descriptors of all peers together are at their limit, the port accepts no connection, not even to refuse it.
            // It is possible that the client has sent descriptors, and closing those can block. So a refused connection could not
            // be closed on this thread, and its own descriptor would be one more that waits to be closed.
            if !listener.blocksDescriptors, DescriptorQuota.isProcessAtLimit {
                counters.add { $0.lackingDescriptors += 1 }
                log("accepts no connection: too many descriptors from other processes are not closed yet")
                return stopListening(listener, pausing: true)
            }
            switch listener.accept() {
            case .connection(let socket):
                deadlines.resetAcceptBackoff()
                admit(socket, for: input)
            case .none: return
            case .outOfResources(let error):
                counters.add { $0.lackingDescriptors += 1 }
                log("cannot accept a connection: \(error)")
                return stopListening(listener, pausing: true)
            case .failed(let error):
                log("cannot accept a connection: \(error)")
                return stopListening(listener, pausing: true)
            }
            // Meanwhile the filter may have ended the port, another loop may have taken over the port, and another thread may have
            // removed the port.
            if isClosed || !input.input.isServedNow { return }
        }
    }

    private func admit(_ socket: consuming PacketSocket, for input: MessagePortInput) {
        let credentials: PeerCredentials
        do { credentials = try socket.peer } catch {
            return log("cannot get the credentials of a peer: \(error)")
        }
        let quota = DescriptorQuota(of: credentials)
        socket.quota = quota
        if quota.isGroupOverLimit {
            counters.add { $0.unclosablePeers += 1 }
            log("refuses \(credentials): descriptors that it has sent cannot be closed", about: credentials)
            return refuse(socket, .tooManyConnections)
        }
        // The place is reserved before the filter is asked, because the filter can run the loop, which accepts more connections.
        guard let number = reservePlace(for: credentials) else {
            counters.add { $0.excessConnections += 1 }
            log("refuses \(credentials), which has as many connections as it may have", about: credentials)
            return refuse(socket, .tooManyConnections)
        }
        // The time for the greeting is also started before the filter is asked. The filter can move the port to another loop. Then
        // that loop's thread has the claim, and this thread is no longer allowed to access the deadlines.
        expectGreeting(of: number, now: Moment.now())
        var isWelcome = false
        input.input.callHandler(origin) { isWelcome = admits(credentials) }
        if !isWelcome {
            cancelPlace(number, of: credentials)
            if input.isInLoop { unsafe reads.deadlines.cancelGreeting(of: number) }
            placeBecameFree(for: input)
            counters.add { $0.refusedPeers += 1 }
            refuse(socket, .notAdmitted)
            return
        }
        guard let connection = add(socket, number, of: credentials) else { return }
        if input.isInLoop {
            // The time that the filter took does not count against the connection.
            unsafe reads.deadlines.cancelGreeting(of: number)
            expectGreeting(of: number, now: Moment.now())
        }
        do {
            try set.add(connection.socket.descriptor, .reading, token: connection.token)
            decide(number)
        } catch {
            log("cannot watch the connection of \(credentials): \(error)", about: credentials)
            decide(number)
            _ = remove(connection)
            placeBecameFree(for: input)
        }
    }

    /// Makes the port accept connections again, because a place for a connection has become free.
    ///
    /// This is called on the thread of the port's present loop.
    private func placeBecameFree(for input: MessagePortInput) {
        if input.isInLoop { return listenAgain() }
        // The port has left the loop in which the filter was asked. If it is in no loop, it listens when it joins a loop.
        loop?.performInEveryMode { [self] in
            if claim.loopHere != nil { listenAgain() }
        }
    }

    /// Sets the deadline for the first packet of a connection.
    func expectGreeting(of connection: UInt64, now: Moment) {
        let deadline = now.advanced(by: limits.greetingTimeout.nanosecondsRoundedUp)
        unsafe reads.deadlines.expectGreeting(of: connection, before: deadline)
    }

    /// Stops accepting connections until a connection ends.
    ///
    /// If `pausing` is true, the port accepts connections again after a pause even if no connection ends.
    private func stopListening(_ listener: PortListener, pausing: Bool) {
        listener.unwatch(in: set)
        unsafe reads.deadlines.stopListening(pausing: pausing)
    }

    /// Accepts connections again, if the port has stopped accepting them.
    ///
    /// The port stops accepting if it has no place for another connection, or if there is no descriptor or memory for one.
    func listenAgain() {
        let deadlines = unsafe reads.deadlines
        guard !deadlines.isListening, let listener else { return }
        do {
            try listener.watch(in: set)
            deadlines.startedListening()
        } catch {
            // The kernel is out of memory, so the port tries again later.
            deadlines.pauseListening()
        }
    }

    private func refuse(_ socket: borrowing PacketSocket, _ refusal: Frame.Refusal) {
        _ = socket.send(Frame(kind: .refusal, id: refusal.rawValue))
    }
}
