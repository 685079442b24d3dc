internal import RunLoops

// Whom a port lets in; by the loop that has the claim.
//
// The filter is the user's: while it runs, another loop may come to have the port.

extension MessagePortCore {
    /// How many connections are taken before messages have their turn again.
    private static let acceptedAtOnce = 16

    /// Takes those who want to connect, and asks the filter about each.
    func accept(for input: MessagePortInput) {
        let receiving = unsafe self.receiving
        guard receiving.isListening, let registration else { return }
        for _ in 0..<MessagePortCore.acceptedAtOnce {
            if isFull { return stopListening(registration) }
            // The last resort: a connection that is refused could not be closed here.
            if !registration.keepsOutDescriptors, DescriptorAccount.isProcessOverdrawn {
                counters.add { $0.lackingDescriptors += 1 }
                log("takes no connection: too many descriptors from other processes are not closed yet")
                return stopListening(registration, for: receiving.pause.begin())
            }
            switch registration.accept() {
            case .connection(let socket):
                receiving.pause.reset()
                admit(socket, for: input)
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

    private func admit(_ socket: consuming PacketSocket, for input: MessagePortInput) {
        let credentials: PeerCredentials
        do { credentials = try socket.peer } catch { return log("cannot tell who connects: \(error)") }
        let account = DescriptorAccount(of: credentials)
        socket.account = account
        if account.isLaneOverdrawn {
            counters.add { $0.unclosablePeers += 1 }
            log("refuses \(credentials): descriptors that it has sent cannot be closed")
            return refuse(socket, .tooManyConnections)
        }
        // Before the filter is asked, which may run the loop and come here again.
        guard let number = takePlace(for: credentials) else {
            counters.add { $0.excessConnections += 1 }
            log("refuses \(credentials), which has as many connections as it may have")
            return refuse(socket, .tooManyConnections)
        }
        // This, too: the filter may have another loop take the port, whose thread has the claim then.
        expectGreeting(of: number, now: Moment.now())
        var isWelcome = false
        input.input.callHandler(origin) { isWelcome = admits(credentials) }
        if !isWelcome {
            giveBackPlace(number, of: credentials)
            if input.isInLoop { unsafe receiving.greetings.forget(number) }
            placeBecameFree(for: input)
            counters.add { $0.refusedPeers += 1 }
            refuse(socket, .notAdmitted)
            return
        }
        guard let connection = add(socket, number, of: credentials) else { return }
        if input.isInLoop {
            // The time of the filter is not the connection's.
            unsafe receiving.greetings.forget(number)
            expectGreeting(of: number, now: Moment.now())
        }
        do {
            try set.add(connection.socket.descriptor, .reading, token: connection.token)
            endAsking(about: number)
        } catch {
            log("cannot watch the connection of \(credentials): \(error)")
            endAsking(about: number)
            _ = remove(connection)
            placeBecameFree(for: input)
        }
    }

    /// Whoever has the port by now may accept again.
    private func placeBecameFree(for input: MessagePortInput) {
        if input.isInLoop { listenAgain() } else { placeBecameFreeElsewhere() }
    }

    /// Gives a connection its time to say what it is.
    func expectGreeting(of connection: UInt64, now: Moment) {
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

    private func refuse(_ socket: borrowing PacketSocket, _ refusal: Frame.Refusal) {
        _ = socket.send(Frame(kind: .refusal, id: refusal.rawValue))
    }
}
