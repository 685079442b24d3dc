internal import DequeModule
internal import MessagePorts
internal import RunLoops

/// The engine of a center that reaches the centers of other processes through a hub.
///
/// The engine connects to the hub with a given name. If there is no such hub, and ``serves`` is true, the engine serves the hub on
/// a thread of its own. If several processes try that, one of them gets the name, and the others connect to that process's hub.
///
/// > Thread safety: the thread of the center's loop.
final class HubEngine: Engine {
    /// A message that the port had no room for.
    private struct Waiting {
        let id: UInt32
        let bytes: [UInt8]
        var descriptor: CInt?
    }

    private let name: PortName
    private let names: PortNames
    private let serves: Bool
    private let limits: Hub.Limits
    private let loop: RunLoop
    private weak var sink: (any EngineSink)?
    private var start: EngineStart?
    private var hub: HubThread?

    private var remote: RemotePort?
    /// The number of the current port; a handler of an earlier port has a lower number.
    private var portNumber: UInt64 = 0
    private var greeted: Int64 = 0
    private var isWelcome = false
    /// The encoded posts that the next message of posts will contain.
    private var posts = WireWriter()
    private var isFlushing = false
    /// The messages that wait for room in the port, and that are sent before any later message.
    private var outbox = Deque<Waiting>()
    /// True if the engine has refused a post, and must notify the sink when there is room again.
    private var owesRoom = false

    private var backoff = ExponentialBackoff(from: .milliseconds(2), to: .milliseconds(500))
    private var retry: Timer?
    private var hasEnded = false
    private var awaySince: ContinuousClock.Instant?
    private var connectedSince: ContinuousClock.Instant?
    /// A reference to this engine for the blocks that run on the engine's loop; empty once the engine has ended.
    private let confined = LoopConfined<HubEngine>()

    /// The maximum size, in bytes, of a message that contains more than one post.
    private static let mostPostBytes = 60_000

    init(_ name: PortName, in names: PortNames, serves: Bool, _ limits: Hub.Limits, on loop: RunLoop) {
        self.name = name
        self.names = names
        self.serves = serves
        self.limits = limits
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
        if hasEnded { return }
        do throws(MessagePortError) {
            let port = try RemotePort(
                connectingTo: name, in: names, largestMessage: HubMessage.mostBytes, mostDescriptors: 0)
            remote = port
            try add(port)
        } catch {
            remote = nil
            if case .name(.unknown) = error, serves, serveHub() { return connect() }
            lose(.port(error))
        }
    }

    private func add(_ port: RemotePort) throws(MessagePortError) {
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
        port.onConnection { [weak self] in whileCurrent({ $0.greet() }, self, number) }
        port.onRoom { [weak self] in whileCurrent({ $0.makeRoom() }, self, number) }
        port.onEnd { [weak self] error in whileCurrent({ $0.lose(.port(error)) }, self, number) }
    }

    /// Takes the name, and serves the hub.
    ///
    /// - Returns: True if this process serves the hub now.
    private func serveHub() -> Bool {
        do throws(DistributedNotificationError) {
            hub = try HubThread(name, in: names, limits)
            return true
        } catch {
            // For example, another process has taken the name first. Possibly that process does not serve the hub yet, so the next
            // try comes after a pause.
            return false
        }
    }

    private func greet() {
        guard let start else { return }
        var hello = WireWriter()
        hello.put(HubMessage.version)
        hello.put(start.poster)
        greeted = MachineClock.now
        send(HubMessage.hello, hello.bytes, descriptor: start.numberFile)
    }

    /// Abandons a connection that has ended or could not be made, and plans another try.
    private func lose(_ error: DistributedNotificationError) {
        portNumber += 1
        remote?.invalidate()
        remote = nil
        isWelcome = false
        outbox = []
        posts = WireWriter()
        owesRoom = false
        if hub?.isEnded == true { hub = nil }
        if hasEnded { return }
        if awaySince == nil { awaySince = .now }
        // The pause keeps growing as long as each connection ends within a second.
        if let connectedSince, .now - connectedSince > .seconds(1) { backoff.reset() }
        connectedSince = nil
        sink?.state(.away(since: awaySince ?? .now, error), epoch: nil)
        // The pause is random, so that processes that have lost the hub at the same time try again at different times.
        let pause = backoff.begin() * Int.random(in: 50...150) / 100
        let timer = Timer(timeInterval: pause, repeats: false) { [unowned self] _ in
            retry = nil
            connect()
        }
        retry = timer
        loop.add(timer, forMode: .common)
    }

    func end(lastNumber: UInt64) {
        hasEnded = true
        confined.value = nil
        retry?.invalidate()
        flush()
        if isWelcome {
            var bye = WireWriter()
            bye.put(lastNumber)
            send(HubMessage.bye, bye.bytes)
        }
        sink = nil
        remote?.invalidate()
        remote = nil
        hub?.end()
    }

    // MARK: - Sending

    private func send(_ id: UInt32, _ bytes: [UInt8], descriptor: CInt? = nil) {
        let message = Waiting(id: id, bytes: bytes, descriptor: descriptor)
        if outbox.isEmpty && trySend(message) { return }
        outbox.append(message)
    }

    private func trySend(_ message: Waiting) -> Bool {
        guard let remote else { return false }
        do {
            return try remote.trySend(
                message.bytes, id: message.id, descriptors: message.descriptor.map { [$0] } ?? [])
        } catch {
            // If the connection has ended, its handler reports that, after all earlier messages. After any other error, nothing
            // would report room, so a later block gives up the connection: while the engine sends, it must not call the center.
            if case .ended = error { return false }
            let (engine, number) = (confined, portNumber)
            loop.performInEveryMode {
                if let engine = engine.value, engine.portNumber == number { engine.lose(.port(error)) }
            }
            return false
        }
    }

    /// Sends the collected posts to the hub as one message.
    private func flush() {
        isFlushing = false
        if posts.bytes.isEmpty { return }
        send(HubMessage.posts, posts.bytes)
        posts = WireWriter()
    }

    private func makeRoom() {
        while let first = outbox.first {
            if !trySend(first) { return }
            outbox.removeFirst()
        }
        if owesRoom {
            owesRoom = false
            sink?.room()
        }
    }

    func publish(_ post: Post) -> Handed {
        if !isWelcome { return .away }
        if !posts.bytes.isEmpty && posts.bytes.count + post.cost > HubEngine.mostPostBytes { flush() }
        if !outbox.isEmpty {
            owesRoom = true
            return .full
        }
        posts.put(post)
        if !isFlushing {
            isFlushing = true
            loop.atEndOfPass { [weak self] in self?.flush() }
        }
        return .taken
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
            let sharesClock = greeted <= time && time <= MachineClock.now
            isWelcome = true
            awaySince = nil
            connectedSince = .now
            sink?.state(.connected, epoch: epoch, sharesClock: sharesClock)
        case HubMessage.acknowledged:
            let accepted = try reader.count()
            let settled = try reader.count()
            sink?.acknowledged(accepted: accepted, settled: settled, exempt: settled)
        case HubMessage.batch: sink?.deliver(try reader.batch())
        case HubMessage.refusal:
            switch try reader.number(UInt32.self) {
            case HubMessage.refusedDuplicate: lose(.duplicatePoster)
            default: lose(.protocolViolation("the hub speaks another version of the protocol"))
            }
        default: throw WireViolation("a message has an unknown number")
        }
    }
}
