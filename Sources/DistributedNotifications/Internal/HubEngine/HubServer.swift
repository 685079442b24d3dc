internal import DequeModule
internal import MessagePorts
internal import RunLoops

/// A hub that serves other processes through a port with a name.
///
/// > Thread safety: the thread of its loop.
final class HubServer {
    /// A connection of the port, with the poster at the other end.
    final class Client {
        let peer: MessagePort.Peer
        let poster: PosterID
        let numbers: NumberView?
        /// The rest of the message that arrived last; nil if the hub has handled it.
        ///
        /// While there is a rest, no further message is read.
        var job: HubJob?
        /// The message that waits because the connection had no room for it; nil if none waits.
        var held: (id: UInt32, bytes: [UInt8])?
        /// The bytes of `job` that count in the share of the process.
        var jobBytes = 0

        init(peer: MessagePort.Peer, poster: PosterID, numbers: NumberView?) {
            self.peer = peer
            self.poster = poster
            self.numbers = numbers
        }
    }

    /// The time between two checks for connections that are slow to confirm posts.
    ///
    /// Posters wait for a slow connection for at most two of these intervals.
    static let checkInterval = Duration.milliseconds(500)

    /// The maximum delay of the acknowledgement of a post.
    ///
    /// The hub delays the acknowledgement until other connections have confirmed the post, or this time has passed.
    static let longestPatience = Duration.milliseconds(1)

    /// The number of connections to which messages are sent at once; the others get turns.
    static let sentAtOnce = 4

    /// The number of steps that are taken at once for one process in a pass of the loop; the rest takes turns.
    ///
    /// A step takes about half a microsecond.
    static let stepsAtOnce = 128

    /// The number of steps of a turn, which all processes share.
    static let stepsOfTurn = 256

    /// The number of steps that reading a message counts as, besides its entries.
    static let stepsOfReading = 4

    /// The number of steps that a message to a client counts as, besides its items.
    static let stepsOfMessage = 16

    let port: MessagePort
    let loop: RunLoop
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    var hub: Hub
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    var clients: [UInt64: Client] = [:]
    var absence = HubAbsence()
    /// The posters whose processes have ended, of which the hub is told one by one.
    var ending = Deque<(PosterID, NumberView?)>()
    /// The connections for which there is work to do, in the order of their turns.
    var turns = FairTurns<UInt64, HubShares.Owner>()
    /// The steps that were taken at once for each process in this pass.
    var taken: [HubShares.Owner: Int] = [:]
    /// The clients whose connections are to be closed, because a message could not be sent to them.
    var broken: [MessagePort.Peer] = []
    /// The timer of the checks for connections that are slow to confirm posts; nil while no poster waits for a confirmation.
    var check: Timer?
    /// The timer that sends delayed acknowledgements after ``longestPatience``; nil while it is not needed.
    var patience: Timer?
    /// A reference to this server for the blocks that run on its loop; empty once the hub has ended.
    let confined = LoopConfined<HubServer>()
    /// Called once, when the hub has ended.
    private let ended: () -> Void

    /// Takes the name, and serves the hub on the loop of the calling thread.
    init(
        _ name: PortName, in names: PortNames, _ limits: Hub.Limits, on loop: RunLoop,
        ended: @escaping () -> Void
    ) throws(MessagePortError) {
        var bounds = MessagePort.Options()
        bounds.messageByteLimit = HubMessage.mostBytes
        bounds.descriptorLimit = 1
        bounds.connectionLimit = 4_096
        bounds.connectionLimitPerProcess = 1_024
        // The hub itself keeps what a connection has no room for, and counts its bytes.
        bounds.keptMessageLimit = 1
        port = try MessagePort(named: name, in: names, options: bounds)
        self.loop = loop
        self.ended = ended
        let random = PosterID.random()
        hub = Hub(Epoch(high: random.high, low: random.low), limits)
        do throws(SystemError) {
            try loop.add(port, forMode: .common) { [unowned self] message in receive(message) }
        } catch {
            port.invalidate()
            throw .system(error)
        }
        confined.value = self
        port.onPeerEnd { [unowned self] _, peer in lose(peer) }
        port.onPeerRoom { [unowned self] _, peer in
            takeTurn(peer)
            flushReady()
        }
        port.onTurn { [unowned self] budget in serveTurn(&budget) }
        watchName()
    }

    /// Makes the hub end when it loses its name.
    ///
    /// With two hubs of one name, each would have only some of the observers. So this hub then ends, and its centers find the new
    /// hub.
    private func watchName() {
        do throws(SystemError) { try port.onNameLoss { [unowned self] _ in end() } } catch {
            // A hub that serves is worth more than the watch, which only matters if the directory of names is removed.
            RunLoopDiagnostics.report(
                "DistributedNotificationHub \"\(port.name)\" serves, but would not notice that it has lost its name: \(error)",
                ["port": "\(port.name)"])
        }
    }

    /// Ends the hub: frees its name, and closes its connections.
    func end() {
        if !port.isValid { return }
        port.invalidate()
        check?.invalidate()
        patience?.invalidate()
        confined.value = nil
        absence.end()
        ending = []
        clients = [:]
        ended()
    }

    // MARK: - Receiving

    private func receive(_ message: consuming MessagePort.Message) {
        let peer = message.sender
        let id = message.id
        let bytes = message.bytes
        do throws(WireViolation) {
            if id == HubMessage.hello {
                let numbers = message.descriptors.numbers.first.flatMap { NumberView($0) }
                try welcome(peer, bytes, numbers)
            } else {
                guard let poster = clients[peer.id]?.poster else {
                    throw WireViolation("no hello came first")
                }
                try serve(id, bytes, peer, poster)
            }
            let owner = owner(of: peer)
            note(HubServer.stepsOfReading, of: owner)
            // The other messages of the process take turns with those of other processes, on however many connections they come.
            if stepsLeft(of: owner) <= 0 {
                port.pauseReading(peer)
                takeTurn(peer)
            }
        } catch { refuse(peer) }
        flushReady()
    }

    /// Closes the connection of a peer that breaks the protocol, or that uses too much memory.
    func refuse(_ peer: MessagePort.Peer) {
        port.disconnect(peer)
        lose(peer)
    }

    private func welcome(_ peer: MessagePort.Peer, _ bytes: [UInt8], _ numbers: NumberView?)
        throws(WireViolation)
    {
        var reader = WireReader(bytes)
        let version = try reader.number(UInt32.self)
        let poster = try reader.poster()
        if clients[peer.id] != nil { throw WireViolation("a second hello") }
        if poster == .unknown { throw WireViolation("a poster without an identity") }
        if version != HubMessage.version { return refuse(peer, HubMessage.refusedVersion) }
        if let other = hub.posters[poster]?.connection.flatMap({ clients[$0] }) {
            if other.peer.credentials.processID != peer.credentials.processID {
                return refuse(peer, HubMessage.refusedDuplicate)
            }
            // The same process has connected again before the hub has noticed the end of the old connection.
            port.disconnect(other.peer)
            forget(other.peer.id)
        }
        absence.remove(poster)
        ending.removeAll { $0.0 == poster }
        _ = hub.open(peer.id, poster: poster, of: owner(of: peer))
        clients[peer.id] = Client(peer: peer, poster: poster, numbers: numbers)
        var welcome = WireWriter()
        welcome.put(HubMessage.version)
        welcome.put(hub.epoch.high)
        welcome.put(hub.epoch.low)
        welcome.put(MachineClock.now)
        send(HubMessage.welcome, welcome.bytes, to: peer.id)
    }

    func owner(of peer: MessagePort.Peer) -> HubShares.Owner {
        .init(user: peer.credentials.userID, process: peer.credentials.processID)
    }

    /// Sends the reason for a refusal, and closes the connection, so that a refused peer cannot send one hello after another.
    private func refuse(_ peer: MessagePort.Peer, _ reason: UInt32) {
        var refusal = WireWriter()
        refusal.put(reason)
        // If the refusal cannot be sent, the peer sees only the end of the connection.
        do { _ = try port.trySend(refusal.bytes, id: HubMessage.refusal, to: peer) } catch {}
        port.disconnect(peer)
    }

    private func serve(
        _ id: UInt32, _ bytes: [UInt8], _ peer: MessagePort.Peer, _ poster: PosterID
    ) throws(WireViolation) {
        if let job = try HubJob(id, bytes) {
            clients[peer.id]?.job = job
            // Most messages are short, and are handled here.
            var steps = stepsLeft(of: owner(of: peer))
            let given = steps
            defer { note(given - steps, of: owner(of: peer)) }
            return try work(for: peer, poster, &steps)
        }
        var reader = WireReader(bytes)
        switch id {
        case HubMessage.confirm:
            let batch = try reader.number(UInt64.self)
            try hub.confirm(batch, credits: Int(try reader.number(UInt32.self)), from: peer.id)
        case HubMessage.bye: hub.end(poster, last: try reader.count())
        default: throw WireViolation("a message has an unknown number")
        }
    }

    // MARK: - Long messages

    /// Handles entries of a client's message, within a number of steps, which become fewer.
    ///
    /// The rest waits for a turn of the client, and so do its further messages.
    func work(for peer: MessagePort.Peer, _ poster: PosterID, _ steps: inout Int) throws(WireViolation) {
        let connection = peer.id
        // The job is taken out, so that there is one reference to its bytes.
        guard let client = clients[connection], var job = client.job.take() else { return }
        while steps > 0 {
            guard let count = try job.step(on: &hub, from: connection, poster) else {
                discharge(connection)
                if job.containsPosts {
                    awaitConfirmations()
                    acknowledgeSoon()
                }
                return
            }
            steps -= count
        }
        client.job = job
        if client.jobBytes == 0 { try charge(job.byteCount, connection) }
        port.pauseReading(peer)
        takeTurn(peer)
    }

    /// Counts bytes that the hub keeps for a client in the share of its process.
    private func charge(_ bytes: Int, _ connection: UInt64) throws(WireViolation) {
        guard let share = hub.connections[connection]?.share else { return }
        if !hub.shares.charge(share, bytes) {
            throw WireViolation("the process uses too much of the hub's memory")
        }
        clients[connection]?.jobBytes += bytes
    }

    private func discharge(_ connection: UInt64) {
        guard let bytes = clients[connection]?.jobBytes, bytes > 0,
            let share = hub.connections[connection]?.share
        else { return }
        hub.shares.discharge(share, bytes)
        clients[connection]?.jobBytes = 0
    }

    /// Forgets a client, whose connection has ended; its poster can connect again.
    ///
    /// - Returns: The client; nil if it was forgotten before.
    @discardableResult
    func forget(_ connection: UInt64) -> Client? {
        discharge(connection)
        return clients.removeValue(forKey: connection)
    }
}
