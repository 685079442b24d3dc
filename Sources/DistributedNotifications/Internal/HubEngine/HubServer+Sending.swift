internal import DequeModule
internal import MessagePorts
internal import RunLoops

// Messages to clients, and what is done at a later time.

extension HubServer {
    /// Sends messages to the clients for which some are waiting: to a few of them at once, and to the others when they have a turn.
    func flushReady() {
        var count = 0
        while let connection = hub.takeReady() {
            guard let peer = clients[connection]?.peer, !turns.contains(connection) else { continue }
            let owner = owner(of: peer)
            let steps = stepsLeft(of: owner)
            count += 1
            if steps > 0 && count <= HubServer.sentAtOnce {
                note(flush(connection, steps: steps), of: owner)
            } else {
                takeTurn(peer)
            }
        }
        let overrun = hub.takeOverrun().compactMap { clients[$0]?.peer }
        for peer in overrun + exchange(&broken, with: []) {
            port.disconnect(peer)
            lose(peer)
        }
        if hub.awaitsCheck { awaitConfirmations() }
        if hub.hasLeftovers || !ending.isEmpty {
            turns.add(HubServer.leftovers, of: .own)
            port.giveTurn()
        }
    }

    /// Sends a connection some of its waiting messages, as long as the connection has room for them.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - steps: The number of steps. If there is more to do, the connection gets a turn.
    /// - Returns: The number of steps that were taken.
    private func flush(_ connection: UInt64, steps: Int) -> Int {
        guard let client = clients[connection] else { return 0 }
        var left = steps
        if let held = client.held.take() {
            send(held.id, held.bytes, to: connection)
            left -= HubServer.stepsOfMessage
        }
        while left > 0 {
            if client.held != nil { return steps - left }
            guard let output = hub.next(for: connection, steps: &left) else {
                if left > 0 { return steps - left }
                break
            }
            left -= HubServer.stepsOfMessage
            var message = WireWriter()
            switch output {
            case .acknowledged(let accepted, let settled):
                message.put(accepted)
                message.put(settled)
                send(HubMessage.acknowledged, message.bytes, to: connection)
            case .batch(let batch):
                message.put(batch)
                send(HubMessage.batch, message.bytes, to: connection)
            }
        }
        takeTurn(client.peer)
        return steps - left
    }

    /// Sends a message, or holds it until the port has room.
    func send(_ id: UInt32, _ bytes: [UInt8], to connection: UInt64) {
        guard let client = clients[connection] else { return }
        do {
            if try !port.trySend(bytes, id: id, to: client.peer) { client.held = (id, bytes) }
        } catch {
            // A client that misses this message would count its notifications wrongly, so the client has to connect again.
            client.held = (id, bytes)
            broken.append(client.peer)
        }
    }

    // MARK: - Later

    /// Starts the timer that ends the delay of acknowledgements, if acknowledgements are delayed and the timer does not run yet.
    func acknowledgeSoon() {
        if patience != nil || !hub.hasPatient { return }
        let timer = Timer(timeInterval: HubServer.longestPatience, repeats: false) { [unowned self] _ in
            patience = nil
            hub.acknowledgePatient()
            flushReady()
        }
        patience = timer
        loop.add(timer, forMode: .common)
    }

    /// Starts the timer of the checks for connections that are slow to confirm posts, unless the timer runs already.
    ///
    /// For example, a stopped process confirms no posts. Posters wait for its confirmations until a check ends the wait.
    func awaitConfirmations() {
        if check != nil { return }
        let timer = Timer(timeInterval: HubServer.checkInterval, repeats: true) { [unowned self] timer in
            if !hub.check() {
                timer.invalidate()
                check = nil
            }
            flushReady()
        }
        check = timer
        loop.add(timer, forMode: .common)
    }

    // MARK: - Turns

    /// The key of the work for connections and posters that have ended, in ``turns``: the number of no connection.
    private static let leftovers: UInt64 = 0

    /// Queues the work for a client behind that for others.
    func takeTurn(_ peer: MessagePort.Peer) {
        turns.add(peer.id, of: owner(of: peer))
        port.giveTurn()
    }

    /// Does some of the work that waits, for one process after another, whatever the number of their connections.
    func serveTurn(_ budget: inout Budget) {
        var left = HubServer.stepsOfTurn
        while left > 0, budget.spend(), let connection = turns.next() {
            left -= serveTurn(of: connection, steps: left)
        }
        flushReady()
        if !turns.isEmpty { port.giveTurn() }
    }

    /// Does some of the work for one connection.
    ///
    /// - Returns: The number of steps that were taken.
    private func serveTurn(of connection: UInt64, steps: Int) -> Int {
        if connection == HubServer.leftovers {
            hub.tidy()
            if let (poster, numbers) = ending.popFirst() { hub.end(poster, last: numbers?.value) }
            return Hub.removedAtOnce
        }
        guard let client = clients[connection] else { return 1 }
        var left = steps
        if client.job != nil {
            do throws(WireViolation) { try work(for: client.peer, client.poster, &left) } catch {
                refuse(client.peer)
                return steps - left
            }
        }
        if client.job == nil { port.resumeReading(client.peer) }
        // A long message must not keep back what the client is owed, such as the acknowledgement of its first posts.
        return steps - left + flush(connection, steps: max(left, HubServer.stepsOfMessage))
    }

    /// The number of steps that may be taken at once for a process.
    func stepsLeft(of owner: HubShares.Owner) -> Int {
        taken.isEmpty ? HubServer.stepsAtOnce : HubServer.stepsAtOnce - taken[owner, default: 0]
    }

    /// Notes that steps were taken at once for a process, until the end of the pass.
    func note(_ steps: Int, of owner: HubShares.Owner) {
        if steps <= 0 { return }
        if taken.isEmpty {
            loop.performAtEndOfPass { [confined] in confined.value?.taken.removeAll(keepingCapacity: true) }
        }
        taken[owner, default: 0] += steps
    }
}
