internal import MessagePorts
internal import RunLoops

/// A hub that serves other processes through a port with a name.
///
/// > Thread safety: the thread of its loop.
final class HubServer {
    /// A connection of the port, with the poster at the other end.
    struct Client {
        let peer: MessagePort.Peer
        let poster: PosterID
        let numbers: NumberView?
        /// The message that waits because the connection had no room for it; nil if none waits.
        var held: (id: UInt32, bytes: [UInt8])?
    }

    /// The time between two checks for connections that are slow to confirm posts.
    ///
    /// Posters wait for a slow connection for at most two of these intervals.
    private static let checkInterval = Duration.milliseconds(500)

    /// The maximum delay of the acknowledgement of a post.
    ///
    /// The hub delays the acknowledgement until other connections have confirmed the post, or this time has passed.
    private static let longestPatience = Duration.milliseconds(1)

    /// The maximum number of posters in ``away``.
    static let mostAway = 4_096

    private let port: MessagePort
    let loop: RunLoop
    var hub: Hub
    var clients: [UInt64: Client] = [:]
    /// The posters whose connections have ended, but whose processes are not known to have ended.
    var away: [PosterID: Away] = [:]
    /// The posters in `away`; the one that has been away longest is the first.
    var awayOrder: [PosterID] = []
    private(set) var violations = 0
    /// The clients whose connections are to be closed, because a message could not be sent to them.
    private var broken: [MessagePort.Peer] = []
    /// The timer of the checks for connections that are slow to confirm posts; nil while no poster waits for a confirmation.
    private var check: Timer?
    /// The timer that sends delayed acknowledgements after ``longestPatience``; nil while it is not needed.
    private var patience: Timer?
    /// Called once, when the hub has ended.
    private let ended: () -> Void

    struct Away {
        /// The source that reports the end of the poster's process; nil if the hub cannot watch that process.
        let process: ProcessSource?
        let numbers: NumberView?
    }

    /// Takes the name, and serves the hub on the loop of the calling thread.
    init(
        _ name: PortName, in names: PortNames, _ limits: Hub.Limits, on loop: RunLoop,
        ended: @escaping () -> Void
    ) throws(MessagePortError) {
        var bounds = MessagePort.Limits()
        bounds.body = HubMessage.mostBytes
        bounds.descriptors = 1
        bounds.connections = 4_096
        bounds.connectionsPerProcess = 1_024
        bounds.keptMessages = 16
        port = try MessagePort(name: name, in: names, limits: bounds)
        self.loop = loop
        self.ended = ended
        let random = PosterID.random()
        hub = Hub(Epoch(high: random.high, low: random.low), limits)
        do throws(SystemError) {
            try loop.add(port, forMode: .common) { [unowned self] message in receive(message) }
            port.onPeerEnd { [unowned self] peer in lose(peer) }
            port.onPeerRoom { [unowned self] peer in
                flush(peer.connection)
                flushAll()
            }
            // With two hubs of one name, each would have only some of the observers. So this hub ends if it loses its name, and its
            // centers then find the new hub.
            try port.onNameLoss { [unowned self] in end() }
        } catch {
            port.invalidate()
            throw .system(error)
        }
    }

    /// Ends the hub: frees its name, and closes its connections.
    func end() {
        if !port.isValid { return }
        port.invalidate()
        check?.invalidate()
        patience?.invalidate()
        for waiting in away.values { waiting.process?.invalidate() }
        away = [:]
        awayOrder = []
        clients = [:]
        ended()
    }

    var connectionCount: Int { clients.count }

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
                guard let client = clients[peer.connection] else {
                    throw WireViolation("no hello came first")
                }
                try serve(id, WireReader(bytes), peer.connection, client.poster)
            }
        } catch {
            violations += 1
            port.disconnect(peer)
            lose(peer)
        }
        flushAll()
    }

    private func welcome(_ peer: MessagePort.Peer, _ bytes: [UInt8], _ numbers: NumberView?)
        throws(WireViolation)
    {
        var reader = WireReader(bytes)
        let version = try reader.number(UInt32.self)
        let poster = try reader.poster()
        if clients[peer.connection] != nil { throw WireViolation("a second hello") }
        if version != HubMessage.version { return refuse(peer, HubMessage.refusedVersion) }
        if let other = hub.posters[poster]?.connection.flatMap({ clients[$0] }) {
            if other.peer.credentials.processID != peer.credentials.processID {
                return refuse(peer, HubMessage.refusedDuplicate)
            }
            // The same process has connected again before the hub has noticed the end of the old connection.
            port.disconnect(other.peer)
            clients[other.peer.connection] = nil
        }
        forget(poster)
        _ = hub.open(peer.connection, poster: poster)
        clients[peer.connection] = Client(peer: peer, poster: poster, numbers: numbers)
        var welcome = WireWriter()
        welcome.put(HubMessage.version)
        welcome.put(hub.epoch.high)
        welcome.put(hub.epoch.low)
        welcome.put(MachineClock.now)
        send(HubMessage.welcome, welcome.bytes, to: peer.connection)
    }

    /// Sends the reason for a refusal, and closes the connection, so that a refused peer cannot send one hello after another.
    private func refuse(_ peer: MessagePort.Peer, _ reason: UInt32) {
        var refusal = WireWriter()
        refusal.put(reason)
        // If the refusal cannot be sent, the peer sees only the end of the connection.
        do { _ = try port.send(refusal.bytes, id: HubMessage.refusal, to: peer) } catch {}
        port.disconnect(peer)
    }

    private func serve(
        _ id: UInt32, _ message: WireReader, _ connection: UInt64, _ poster: PosterID
    ) throws(WireViolation) {
        var reader = message
        switch id {
        case HubMessage.posts:
            while !reader.isAtEnd { try hub.publish(try reader.post(of: poster), from: connection) }
            awaitConfirmations()
            acknowledgeSoon()
        case HubMessage.announce:
            let isOpening = try reader.flag()
            let isLast = try reader.flag()
            let number = try reader.count()
            let horizons = try reader.entries(atMost: HubMessage.horizonsPerMessage) {
                reader throws(WireViolation) in try reader.horizon()
            }
            try hub.announce(
                Announcement(horizons: horizons, number: number, isOpening: isOpening), isLast: isLast,
                from: connection)
        case HubMessage.subscribe:
            let subscriptions = try reader.entries(atMost: HubMessage.subscriptionsPerMessage) {
                reader throws(WireViolation) in try reader.subscription()
            }
            for subscription in subscriptions { try hub.subscribe(subscription, from: connection) }
        case HubMessage.unsubscribe:
            while !reader.isAtEnd { hub.unsubscribe(try reader.number(), from: connection) }
        case HubMessage.locate:
            let posters = try reader.entries(atMost: HubMessage.postersPerMessage) {
                reader throws(WireViolation) in try reader.poster()
            }
            hub.locate(posters, from: connection)
        case HubMessage.confirm:
            let batch = try reader.number(UInt64.self)
            try hub.confirm(batch, credits: Int(try reader.number(UInt32.self)), from: connection)
        case HubMessage.bye: hub.end(poster, last: try reader.count())
        default: throw WireViolation("a message has an unknown number")
        }
    }

    /// Starts the timer that ends the delay of acknowledgements, if acknowledgements are delayed and the timer does not run yet.
    private func acknowledgeSoon() {
        if patience != nil || !hub.hasPatient { return }
        let timer = Timer(timeInterval: HubServer.longestPatience, repeats: false) { [unowned self] _ in
            patience = nil
            hub.acknowledgePatient()
            flushAll()
        }
        patience = timer
        loop.add(timer, forMode: .common)
    }

    /// Starts the timer of the checks for connections that are slow to confirm posts, unless the timer runs already.
    ///
    /// For example, a stopped process confirms no posts. Posters wait for its confirmations until a check ends the wait.
    private func awaitConfirmations() {
        if check != nil { return }
        let timer = Timer(timeInterval: HubServer.checkInterval, repeats: true) { [unowned self] timer in
            if !hub.checkConfirmations() {
                timer.invalidate()
                check = nil
            }
            flushAll()
        }
        check = timer
        loop.add(timer, forMode: .common)
    }

    // MARK: - Sending

    func flushAll() {
        for connection in hub.takeReady() { flush(connection) }
        let overrun = hub.takeOverrun().compactMap { clients[$0]?.peer }
        let broken = self.broken
        self.broken = []
        for peer in overrun + broken {
            port.disconnect(peer)
            lose(peer)
        }
    }

    /// Sends a connection its waiting messages, as long as the connection has room for them.
    private func flush(_ connection: UInt64) {
        guard let client = clients[connection] else { return }
        if let held = client.held {
            clients[connection]?.held = nil
            send(held.id, held.bytes, to: connection)
        }
        while clients[connection]?.held == nil, let output = hub.next(for: connection) {
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
    }

    /// Sends a message, or holds it until the port has room.
    private func send(_ id: UInt32, _ bytes: [UInt8], to connection: UInt64) {
        guard let client = clients[connection] else { return }
        do {
            if try !port.send(bytes, id: id, to: client.peer) { clients[connection]?.held = (id, bytes) }
        } catch {
            // A client that misses this message would count its notifications wrongly, so the client has to connect again.
            clients[connection]?.held = (id, bytes)
            broken.append(client.peer)
        }
    }
}
