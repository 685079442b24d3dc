internal import DequeModule
internal import MessagePorts
internal import RunLoops

/// The engine of a center that reaches the centers of other processes through a hub.
///
/// The engine connects to the hub with a given name. If there is no such hub, and ``Place/serves`` is true, the engine serves the
/// hub on a thread of its own. If several processes try that, one of them gets the name, and the others connect to that process's
/// hub.
///
/// > Thread safety: the thread of the center's loop.
final class HubEngine: Engine {
    /// The place of the hub.
    struct Place {
        let name: PortName
        let names: PortNames
        /// True if this process serves the hub when there is none.
        let serves: Bool
        let limits: Hub.Limits
    }

    /// The state of the connection.
    private enum Link {
        /// The engine waits before it connects again; nil before the first attempt.
        case away(Timer?)
        /// The hub has not answered the hello.
        case greeting(RemotePort, sentAt: Int64)
        /// The hub has welcomed this center.
        case welcome(RemotePort, since: ContinuousClock.Instant)
        /// The center has ended.
        case ended

        var remote: RemotePort? {
            switch self {
            case .away, .ended: nil
            case .greeting(let remote, _), .welcome(let remote, _): remote
            }
        }
    }

    private let place: Place
    private let loop: RunLoop
    private weak var sink: (any EngineSink)?
    private var start: EngineStart?
    private var hub: HubThread?

    private var link = Link.away(nil)
    /// The number of the current port; a handler of an earlier port has a lower number.
    private var portNumber: UInt64 = 0
    private var outbox = HubOutbox()
    private var backoff = ExponentialBackoff(from: .milliseconds(2), to: .milliseconds(500))
    private var awaySince: ContinuousClock.Instant?
    /// A reference to this engine for the blocks that run on the engine's loop; empty once the engine has ended.
    private let confined = LoopConfined<HubEngine>()

    init(_ place: Place, on loop: RunLoop) {
        self.place = place
        self.loop = loop
    }

    func start(_ start: EngineStart, _ sink: any EngineSink) {
        self.start = start
        self.sink = sink
        confined.value = self
        connect()
    }

    // MARK: - Connecting

    private func connect() {
        do throws(DistributedNotificationError) {
            do throws(MessagePortError) { try connectToHub() } catch {
                guard error.nameError?.reason == .unknown, place.serves else { throw .port(error) }
                try serveHub()
                do throws(MessagePortError) { try connectToHub() } catch { throw .port(error) }
            }
        } catch { lose(error) }
    }

    /// Takes the name, and serves the hub.
    private func serveHub() throws(DistributedNotificationError) {
        do throws(DistributedNotificationError) {
            hub = try HubThread(place.name, in: place.names, place.limits)
        } catch {
            // Another process has taken the name first. Possibly it does not serve the hub yet, so the next try comes after a
            // pause.
            if error.portError?.nameError?.reason == .taken {
                throw .port(.name(.unknown(place.name)))
            }
            throw error
        }
    }

    private func connectToHub() throws(MessagePortError) {
        let port = try RemotePort(
            connectingTo: place.name, in: place.names, messageByteLimit: HubMessage.mostBytes,
            descriptorLimit: 0)
        // A handler does nothing if the engine has given up its port.
        func whileCurrent(_ body: (HubEngine) -> Void, _ engine: HubEngine?, _ number: UInt64) {
            if let engine, engine.portNumber == number { body(engine) }
        }
        portNumber += 1
        let number = portNumber
        do throws(SystemError) {
            try loop.add(port, forMode: .common) { [weak self] message in
                if let self, portNumber == number { receive(message) }
            }
        } catch { throw .system(error) }
        link = .greeting(port, sentAt: MachineClock.now)
        port.onConnect { [weak self] _ in whileCurrent({ $0.greet() }, self, number) }
        port.onRoom { [weak self] _ in whileCurrent({ $0.makeRoom() }, self, number) }
        port.onEnd { [weak self] _, error in whileCurrent({ $0.lose(.port(error)) }, self, number) }
    }

    private func greet() {
        guard let start, let remote = link.remote else { return }
        var hello = WireWriter()
        hello.put(HubMessage.version)
        hello.put(start.poster)
        link = .greeting(remote, sentAt: MachineClock.now)
        send(HubMessage.hello, hello.bytes, descriptor: start.numberFile)
    }

    /// Abandons a connection that has ended or could not be made, and plans another try.
    private func lose(_ error: DistributedNotificationError) {
        portNumber += 1
        link.remote?.invalidate()
        outbox = HubOutbox()
        if hub?.isEnded == true { hub = nil }
        switch link {
        case .ended: return
        // The pause keeps growing as long as each connection ends within a second.
        case .welcome(_, let since): if .now - since > .seconds(1) { backoff.reset() }
        case .away, .greeting: break
        }
        link = .away(nil)
        if awaySince == nil { awaySince = .now }
        sink?.state(.away(since: awaySince ?? .now, error), epoch: nil)
        // The pause is random, so that processes that have lost the hub at the same time try again at different times.
        let pause = backoff.begin() * Int.random(in: 50...150) / 100
        let retry = Timer(timeInterval: pause, repeats: false) { [unowned self] _ in connect() }
        link = .away(retry)
        loop.add(retry, forMode: .common)
    }

    func end(lastNumber: UInt64) {
        confined.value = nil
        flush()
        switch link {
        case .away(let retry): retry?.invalidate()
        case .greeting, .ended: break
        case .welcome:
            var bye = WireWriter()
            bye.put(lastNumber)
            send(HubMessage.bye, bye.bytes)
        }
        sink = nil
        link.remote?.invalidate()
        link = .ended
        hub?.end()
    }

    // MARK: - Sending

    private func send(_ id: UInt32, _ bytes: [UInt8], descriptor: CInt? = nil) {
        let message = HubOutbox.Message(id: id, bytes: bytes, descriptor: descriptor)
        if outbox.isEmpty && trySend(message) { return }
        outbox.append(message)
    }

    private func trySend(_ message: HubOutbox.Message) -> Bool {
        guard let remote = link.remote else { return false }
        do {
            return try remote.trySend(
                message.bytes, id: message.id, descriptors: message.descriptor.map { [$0] } ?? [])
        } catch {
            // If the connection has ended, its handler reports that, after all earlier messages. After any other error, nothing
            // would report room, so a later block gives up the connection: while the engine sends, it must not call the center.
            if error.reason == .ended { return false }
            let (engine, number) = (confined, portNumber)
            loop.performInEveryMode {
                if let engine = engine.value, engine.portNumber == number { engine.lose(.port(error)) }
            }
            return false
        }
    }

    /// Sends the collected posts to the hub as one message.
    private func flush() {
        if let posts = outbox.takePosts() { send(HubMessage.posts, posts) }
    }

    private func makeRoom() {
        while let first = outbox.first {
            if !trySend(first) { return }
            outbox.removeFirst()
        }
        if outbox.takeRoomDebt() { sink?.room() }
    }

    func publish(_ post: Post) -> Handed {
        switch link {
        case .welcome: break
        case .away, .greeting, .ended: return .away
        }
        if !outbox.hasRoom(for: post) { flush() }
        switch outbox.collect(post) {
        case .refused: return .full
        case .first:
            loop.performAtEndOfPass { [weak self] in self?.flush() }
            return .taken
        case .further: return .taken
        }
    }

    func announce(_ announcement: Announcement) {
        flush()
        let parts = announcement.horizons.parts(of: HubMessage.horizonsPerMessage)
        for (index, part) in parts.enumerated() {
            var message = WireWriter()
            message.put(UInt8(announcement.isOpening ? 1 : 0))
            message.put(UInt8(index == parts.count - 1 ? 1 : 0))
            message.put(announcement.number)
            for horizon in part { message.put(horizon) }
            send(HubMessage.announce, message.bytes)
        }
    }

    func subscribe(_ subscriptions: [Subscription]) {
        for part in subscriptions.parts(of: HubMessage.subscriptionsPerMessage) {
            var message = WireWriter()
            for subscription in part { message.put(subscription) }
            send(HubMessage.subscribe, message.bytes)
        }
    }

    func unsubscribe(_ numbers: [UInt64]) {
        var message = WireWriter()
        for number in numbers { message.put(number) }
        send(HubMessage.unsubscribe, message.bytes)
    }

    func locate(_ posters: [PosterID]) {
        for part in posters.parts(of: HubMessage.postersPerMessage) {
            var message = WireWriter()
            for poster in part { message.put(poster) }
            send(HubMessage.locate, message.bytes)
        }
    }

    func confirm(_ batch: UInt64, credits: Int) {
        var message = WireWriter()
        message.put(batch)
        message.put(UInt32(credits))
        send(HubMessage.confirm, message.bytes)
    }

    // MARK: - Receiving

    private func receive(_ message: consuming MessagePort.Message) {
        let id = message.id
        do throws(WireViolation) { try serve(id, WireReader(message.bytes)) } catch {
            lose(.protocolViolation(error.reason))
        }
    }

    private func serve(_ id: UInt32, _ message: WireReader) throws(WireViolation) {
        var reader = message
        switch id {
        case HubMessage.welcome:
            if try reader.number(UInt32.self) != HubMessage.version { throw WireViolation("another version") }
            let epoch = Epoch(high: try reader.number(), low: try reader.number())
            let time = try reader.number(Int64.self)
            guard case .greeting(let remote, let sentAt) = link else {
                throw WireViolation("a second welcome")
            }
            link = .welcome(remote, since: .now)
            awaySince = nil
            sink?.state(
                .connected, epoch: epoch, sharesClock: sentAt <= time && time <= MachineClock.now)
        case HubMessage.acknowledged:
            let accepted = try reader.count()
            let settled = try reader.count()
            sink?.acknowledged(accepted: accepted, settled: settled, exempt: settled)
        case HubMessage.batch: sink?.deliver(try reader.batch())
        case HubMessage.refusal:
            switch try reader.number(UInt32.self) {
            case HubMessage.refusedDuplicate: lose(DistributedNotificationError(.duplicatePoster))
            case HubMessage.refusedVersion:
                lose(.protocolViolation("the hub speaks another version of the protocol"))
            case let reason:
                lose(.protocolViolation("the hub refuses this center for the unknown reason \(reason)"))
            }
        default: throw WireViolation("a message has an unknown number")
        }
    }
}
