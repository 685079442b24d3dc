internal import RunLoops

/// The sender's end of a connection with a port: it sends, and hears replies, for any number of threads and tasks.
final class RemoteConnection: Sendable {
    let socket: PacketSocket
    /// The descriptors that the port has sent and that are neither taken nor closed.
    let account: DescriptorAccount
    /// Who has the port.
    let peer: PeerCredentials
    /// What the port takes.
    let limits: Frame.Limits
    /// The number of descriptors that a reply may carry.
    let mostDescriptors: Int
    let name: PortName
    let origin: SourceLocation
    /// The port, if it is one of this process.
    let local: LocalPort?
    let pool: PacketPool
    let reports = RateLimitedLog()
    let state: Guarded<State>

    struct State: Sendable {
        var life: ConnectionLife
        var requests = RequestTable()
        var role = ReaderRole()
        var watchers = EndWatchers()
        /// Where the service knows this connection; nil until it is needed.
        var watch: Watch?
        /// Why nothing can be sent any more.
        var ended: MessagePortError?

        /// What a thread does next that waits for a reply.
        enum Turn {
            /// Nothing: it is decided.
            case leave
            /// Reads, for all who wait.
            case read
            /// Waits until it is decided, or it is to look again.
            case wait(ThreadGate)
        }

        /// Whose turn it is to read: this thread's if nobody else has it.
        mutating func turn(of request: PendingRequest) -> Turn {
            if request.isDecided { return .leave }
            if role.takeForThread() {
                _ = request.attach(.nobody)
                return .read
            }
            let gate = ThreadGate()
            _ = request.attach(.thread(gate))
            return .wait(gate)
        }

        /// What the service is needed for.
        var wish: ReaderRole.Wish {
            var wish: ReaderRole.Wish = watchers.isEmpty ? [] : .end
            if requests.taskCount > 0 { wish.insert(.replies) }
            return wish
        }
    }

    struct Watch: Sendable {
        let service: ConnectionService
        let token: UInt64
    }

    /// Connects, and waits until the port lets this process in.
    init(
        _ name: PortName, _ names: PortNames, largestReply: Int, descriptors: Int, origin: SourceLocation,
        before deadline: ContinuousClock.Instant?
    ) throws(MessagePortError) {
        Fork.check("RemotePort")
        do { try Fork.watch() } catch { throw .system(error) }
        self.name = name
        self.origin = origin
        mostDescriptors = descriptors
        local = LocalPort.find(name, names)
        let wait = try local?.beginWait(in: "RemotePort.init", origin, before: deadline)
        defer { wait?.end() }
        let told = Frame.Limits(bodyLength: UInt32(largestReply), descriptorCount: UInt32(descriptors))
        var life = ConnectionLife(.client, limits: told)
        pool = PacketPool(forBodiesOf: largestReply)
        do {
            socket = try names.connect(to: name, before: deadline)
            account = socket.account ?? DescriptorAccount(of: nil)
            peer = try socket.peer
            try RemoteConnection.sayHello(socket, told, deadline)
            limits = try RemoteConnection.awaitWelcome(socket, &life, pool, deadline)
        } catch let error as PortNameError {
            switch error {
            case .timedOut: throw .timedOut
            case .malformed, .taken, .unknown, .unsafeDirectory, .noDirectory, .refused: throw .name(error)
            }
        } catch let error as SystemError {
            throw .system(error)
        } catch let error as MessagePortError {
            throw error
        } catch {
            preconditionFailure("nothing else is thrown: \(error)")
        }
        state = Guarded(State(life: life))
    }

    deinit {
        end(.ended)
    }

    private static func sayHello(
        _ socket: borrowing PacketSocket, _ limits: Frame.Limits, _ deadline: ContinuousClock.Instant?
    ) throws {
        var pause = ExponentialBackoff.sending
        while true {
            switch socket.send(Frame(.hello, limits: limits)) {
            // Closed: the refusal may be there to be read.
            case .sent, .closed: return
            case .lacksMeans:
                if let deadline, deadline <= .now { throw MessagePortError.timedOut }
                let next = ContinuousClock.now + pause.begin()
                // Gone: it may have said why.
                if try socket.wait(for: .end, before: min(next, deadline ?? next)) { return }
            case .wouldBlock, .tooLarge:
                preconditionFailure("a new connection has room for its first packet")
            case .failed(let error): throw error
            }
        }
    }

    private static func awaitWelcome(
        _ socket: borrowing PacketSocket, _ life: inout ConnectionLife, _ pool: PacketPool,
        _ deadline: ContinuousClock.Instant?
    ) throws -> Frame.Limits {
        let packet = pool.take()
        defer { pool.give(packet) }
        while true {
            // Safe: the packet is ours.
            switch unsafe socket.receive(into: packet.memory, .atMost(0)) {
            case .packet(let length, let descriptors):
                do { try packet.fill(length: length, descriptors) } catch { throw MessagePortError.notAPort }
                switch life.receive(packet.frame) {
                case .greet: return packet.frame.limits
                case .close(let refusal): throw MessagePortError(refusal)
                case .refuse, .drop, .answer, .deliver: throw MessagePortError.notAPort
                }
            case .wouldBlock:
                if try !socket.wait(for: .read, before: deadline) { throw MessagePortError.timedOut }
            case .end: throw MessagePortError.ended
            case .tooLong: throw MessagePortError.notAPort
            case .exceedsAllowance: throw MessagePortError.notAPort
            case .lacksDescriptors: throw MessagePortError.notAPort
            case .failed(let error): throw error
            }
        }
    }

    var isEnded: Bool { state.withLock { $0.ended != nil } }
    var lateReplyCount: Int { state.withLock { $0.requests.lateCount } }

    // MARK: - End

    /// Ends the connection, and tells whoever waits.
    ///
    /// Any thread; again is harmless.
    func end(_ reason: MessagePortError) {
        // In a forked child the connection is its parent's, and so is what the service watches.
        if Fork.isChild { return }
        let ended = state.withLock {
            state -> (waiters: [PendingRequest.Waiter], watchers: EndWatchers, watch: Watch?)? in
            if state.ended != nil { return nil }
            state.ended = reason
            _ = state.life.end()
            defer {
                state.watchers = EndWatchers()
                state.watch = nil
            }
            let waiters = state.requests.removeAll().map { $0.decide(.failure(reason)) }
            return (waiters, state.watchers, state.watch)
        }
        guard let ended else { return }
        if let watch = ended.watch { watch.service.remove(watch.token, socket.descriptor) }
        // Wakes the thread that reads, which finds the end.
        socket.shutDown()
        for waiter in ended.waiters { waiter.wake() }
        ended.watchers.tell()
    }

    /// Has a loop's handler called when the connection ends, which may be now.
    func onInvalidation(_ watcher: EndWatcher) {
        let isNow = state.withLock { state in
            if state.ended == nil { state.watchers.add(watcher) }
            return state.ended != nil
        }
        if isNow { return watcher.tell() }
        seeThatSomebodyReads()
    }
}

extension MessagePortError {
    /// What a port has said when it closed the connection.
    init(_ refusal: Frame.Refusal) {
        switch refusal {
        case .notAdmitted: self = .notAdmitted
        case .malformed, .tooLarge: self = .notAPort
        case .tooManyConnections: self = .tooManyConnections
        case .tooSlow, .outOfResources: self = .ended
        }
    }
}
