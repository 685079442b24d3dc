internal import Glibc

/// The sender's end of a connection with a port: it sends, and hears replies, for any number of threads and tasks.
final class RemoteConnection: Sendable {
    let socket: PacketSocket
    /// Who has the port.
    let peer: PeerCredentials
    /// What the port takes.
    let limits: Frame.Limits
    private let name: PortName
    private let origin: SourceLocation
    /// The port, if it is one of this process.
    private let local: LocalPort?
    private let pool: PacketPool
    private let complaints = Complaints()
    private let state: Guarded<State>

    private struct State: Sendable {
        var life: ConnectionLife
        var requests = RequestTable()
        var role = ReaderRole()
        var watchers: [EndWatcher] = []
        /// Where the service knows this connection; nil until it is needed.
        var watch: Watch?
        /// Why nothing can be sent any more.
        var ended: MessagePortError?

        /// What the service is needed for.
        var wish: ReaderRole.Wish {
            var wish: ReaderRole.Wish = watchers.isEmpty ? [] : .end
            if requests.taskCount > 0 { wish.insert(.replies) }
            return wish
        }
    }

    private struct Watch: Sendable {
        let service: ConnectionService
        let token: UInt64
    }

    /// Connects, and waits until the port lets this process in.
    init(
        _ name: PortName, _ names: PortNames, largestReply: Int, descriptors: Int, origin: SourceLocation,
        before deadline: ContinuousClock.Instant?
    ) throws(MessagePortError) {
        Fork.check("RemotePort")
        self.name = name
        self.origin = origin
        local = LocalPort.find(name, names)
        let wait = try local?.beginWait(in: "RemotePort.init", origin, before: deadline)
        defer { wait?.end() }
        let told = Frame.Limits(bodyLength: UInt32(largestReply), descriptorCount: UInt32(descriptors))
        var life = ConnectionLife(.client, limits: told)
        pool = PacketPool(forBodiesOf: largestReply)
        do {
            socket = try names.connect(to: name, before: deadline)
            peer = try socket.peer
            switch socket.send(Frame(.hello, limits: told)) {
            // Closed: the refusal may be there to be read.
            case .sent, .closed: break
            case .wouldBlock, .tooLarge:
                preconditionFailure("a new connection has room for its first packet")
            case .failed(let error): throw error
            }
            limits = try RemoteConnection.awaitWelcome(socket, &life, pool, deadline)
            try socket.ensureRoom(forBodiesOf: Int(limits.bodyLength))
        } catch let error as PortNameError {
            switch error {
            case .timedOut: throw .timedOut
            case .malformed, .taken, .unknown, .unsafeDirectory, .refused: throw .name(error)
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
        // In a forked child, what the service knows is the parent's.
        if Fork.isChild { return }
        end(.ended)
    }

    private static func awaitWelcome(
        _ socket: borrowing PacketSocket, _ life: inout ConnectionLife, _ pool: PacketPool,
        _ deadline: ContinuousClock.Instant?
    ) throws -> Frame.Limits {
        let packet = pool.take()
        defer { pool.give(packet) }
        while true {
            // Safe: the packet is ours.
            switch unsafe socket.receive(into: packet.memory) {
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
            case .lacksDescriptors: throw MessagePortError.notAPort
            case .failed(let error): throw error
            }
        }
    }

    var isEnded: Bool { state.withLock { $0.ended != nil } }
    var lateReplyCount: Int { state.withLock { $0.requests.lateCount } }

    // MARK: - Sending

    /// Sends a packet, and waits for room if there is none.
    func send(
        _ frame: Frame, _ body: RawSpan, _ descriptors: [CInt], before deadline: ContinuousClock.Instant?
    ) throws(MessagePortError) {
        try limits.check(body, descriptors)
        while true {
            if let ended = state.withLock({ $0.ended }) { throw ended }
            switch socket.send(frame, body: body, descriptors: descriptors) {
            case .sent: return
            case .wouldBlock: try waitForRoom(before: deadline)
            case .closed:
                hasHungUp()
                throw .ended
            case .tooLarge(let limit): throw .tooLarge(limit: limit - Frame.headLength)
            case .failed(let error): throw .system(error)
            }
        }
    }

    private func waitForRoom(before deadline: ContinuousClock.Instant?) throws(MessagePortError) {
        let wait = try local?.beginWait(in: "RemotePort.send", origin, before: deadline)
        defer { wait?.end() }
        let isThere: Bool
        do { isThere = try socket.wait(for: .write, before: deadline) } catch { throw .system(error) }
        if !isThere { throw .timedOut }
    }

    /// The other end is gone: replies that it has sent before may still be there.
    private func hasHungUp() {
        let reads = state.withLock { $0.role.takeForThread() }
        // If somebody else reads, it comes to the end by itself.
        if reads { readAll() }
    }

    // MARK: - Requests

    /// Notes a request, and sends it.
    ///
    /// - Returns: Its number.
    func begin(
        _ request: PendingRequest, _ body: RawSpan, id: UInt32, _ descriptors: [CInt],
        before deadline: ContinuousClock.Instant?
    ) throws(MessagePortError) -> UInt64 {
        let (number, ended) = state.withLock { state -> (UInt64, MessagePortError?) in
            if let ended = state.ended { return (0, ended) }
            let number = state.requests.nextNumber()
            state.requests.add(request, number: number)
            return (number, nil)
        }
        if let ended { throw ended }
        do {
            try send(Frame(kind: .request, id: id, number: number), body, descriptors, before: deadline)
        } catch {
            _ = state.withLock { $0.requests.giveUp(number) }
            seeThatSomebodyReads()
            throw error
        }
        return number
    }

    /// Begins a thread's wait for a reply, unless this thread is the one to give it.
    func beginWait(
        for request: PendingRequest, before deadline: ContinuousClock.Instant?
    ) throws(MessagePortError) -> ThreadWait? {
        try local?.beginWait(in: "RemotePort.request", origin, before: deadline) { request.isDecided }
    }

    /// Nobody waits for a request any more.
    ///
    /// - Returns: False if it was answered meanwhile.
    func giveUp(_ number: UInt64) -> Bool { state.withLock { $0.requests.giveUp(number) } }

    /// Waits, on a thread, until a request is decided, and reads meanwhile if nobody else does.
    ///
    /// - Returns: False if the deadline passed first.
    func wait(for request: PendingRequest, before deadline: ContinuousClock.Instant?) throws(MessagePortError)
        -> Bool
    {
        defer { seeThatSomebodyReads() }
        let end = deadline.map { Moment($0) } ?? .never
        while true {
            if request.isDecided { return true }
            if !state.withLock({ $0.role.takeForThread() }) {
                guard let gate = request.gateToWaitAt() else { return true }
                // Again, now that there is a gate: who has read meanwhile saw nobody at one, and has told nobody.
                if !state.withLock({ $0.role.takeForThread() }) {
                    if !gate.wait(until: end) { return false }
                    continue
                }
            }
            defer { state.withLock { $0.role.giveUp() } }
            while !request.isDecided {
                do {
                    if try !socket.wait(for: .read, before: deadline) { return request.isDecided }
                } catch {
                    throw .system(error)
                }
                _ = readOne()
            }
            return true
        }
    }

    // MARK: - Reading, by whoever has the role

    /// Reads until nothing is left, and gives the role up.
    private func readAll() {
        while readOne() {}
        state.withLock { $0.role.giveUp() }
        seeThatSomebodyReads()
    }

    /// Reads one packet, and tells who waits for it.
    ///
    /// - Returns: Whether there may be more.
    private func readOne() -> Bool {
        let packet = pool.take()
        // Safe: the packet is ours until it is handed on.
        switch unsafe socket.receive(into: packet.memory) {
        case .packet(let length, let descriptors):
            do { try packet.fill(length: length, descriptors) } catch {
                pool.give(packet)
                return turnAway("\(error)")
            }
            return take(packet)
        case .wouldBlock:
            pool.give(packet)
            return false
        case .end:
            pool.give(packet)
            end(.ended)
            return false
        case .tooLong(let length):
            pool.give(packet)
            return turnAway("a packet of \(length) bytes")
        case .lacksDescriptors:
            pool.give(packet)
            // Which request it would have answered is lost with it.
            end(.system(SystemError(call: "recvmsg", code: EMFILE)))
            return false
        case .failed(let error):
            pool.give(packet)
            end(.system(error))
            return false
        }
    }

    private func take(_ packet: Packet) -> Bool {
        let frame = packet.frame
        let (action, request) = state.withLock { state -> (ConnectionLife.Action, PendingRequest?) in
            let action = state.life.receive(frame)
            return (action, action == .answer ? state.requests.take(frame.number) : nil)
        }
        switch action {
        case .answer:
            let isReply = frame.kind == .reply
            if !isReply { pool.give(packet) }
            let isTaken = request?.decide(isReply ? .success(packet) : .failure(.noReply)) ?? false
            if isReply && !isTaken {
                pool.give(packet)
                // It gave up after the reply had been read; the others are counted by the table.
                if request != nil { state.withLock { $0.requests.countLate() } }
            }
            return true
        case .close(let refusal):
            pool.give(packet)
            end(MessagePortError(refusal))
            return false
        case .refuse:
            pool.give(packet)
            return turnAway("a \(frame.kind) of \(frame.bodyLength) bytes")
        case .drop:
            pool.give(packet)
            return false
        case .greet, .deliver: preconditionFailure("a sender is greeted once, and gets no messages")
        }
    }

    private func turnAway(_ what: String) -> Bool {
        complaints.say("RemotePort \"\(name)\" closes the connection with \(peer): \(what)")
        end(.notAPort)
        return false
    }

    /// Makes a message of a reply.
    func message(_ packet: Packet) -> MessagePort.Message {
        MessagePort.Message(packet, from: MessagePort.Peer(connection: 0, credentials: peer), pool: pool)
    }

    // MARK: - The service

    /// Has the service know this connection, so that tasks and those who want to hear of the end are told.
    func needService() throws(SystemError) {
        if state.withLock({ $0.watch != nil || $0.ended != nil }) { return }
        let service = try ConnectionService.shared()
        try state.withLock { state throws(SystemError) in
            if state.watch != nil || state.ended != nil { return }
            // Under the lock, though it is a system call: two threads would add the same descriptor, or one would add what the
            // end has taken out before.
            state.watch = Watch(service: service, token: try service.add(self))
        }
    }

    /// If something is waited for and nobody reads, has somebody do it.
    func seeThatSomebodyReads() {
        let thread = state.withLock { state -> PendingRequest? in
            if state.ended != nil { return nil }
            let thread = state.requests.firstThread
            switch state.role.next(threadWaits: thread != nil, wish: state.watch == nil ? [] : state.wish) {
            case .nothing: return nil
            case .nudgeThread: return thread
            case .announce(let wish):
                if let watch = state.watch { announce(wish, watch) }
                return nil
            }
        }
        thread?.nudge()
    }

    /// Has the kernel tell the service once.
    ///
    /// Under the lock, though it is a system call. Of two threads that state different wishes the last one has to be the last
    /// to tell the kernel, or the service would not hear of a reply.
    private func announce(_ wish: ReaderRole.Wish, _ watch: Watch) {
        let interest: EpollSet.Interest = wish.contains(.replies) ? [.reading, .once] : [.hangUp, .once]
        do { try watch.service.set.change(socket.descriptor, interest, token: watch.token) } catch {
            preconditionFailure("what is in the set can be changed there: \(error)")
        }
    }

    /// The kernel has told the service that something has come, or that the end has.
    ///
    /// The service's thread.
    func serviceIsTold() {
        if state.withLock({ $0.role.takeForService() }) { readAll() } else { seeThatSomebodyReads() }
    }

    // MARK: - End

    /// Ends the connection, and tells whoever waits.
    ///
    /// Any thread; again is harmless.
    func end(_ reason: MessagePortError) {
        let ended = state.withLock {
            state -> (requests: [PendingRequest], watchers: [EndWatcher], watch: Watch?)? in
            if state.ended != nil { return nil }
            state.ended = reason
            _ = state.life.end()
            defer {
                state.watchers = []
                state.watch = nil
            }
            return (state.requests.removeAll(), state.watchers, state.watch)
        }
        guard let ended else { return }
        if let watch = ended.watch { watch.service.remove(watch.token, socket.descriptor) }
        // Wakes the thread that reads, which finds the end.
        socket.shutDown()
        for request in ended.requests { _ = request.decide(.failure(reason)) }
        for watcher in ended.watchers { watcher.tell() }
    }

    /// Has a loop's handler called when the connection ends, which may be now.
    func onInvalidation(_ watcher: EndWatcher) {
        let isNow = state.withLock { state in
            if state.ended == nil { state.watchers.append(watcher) }
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
        case .tooManyConnections, .tooSlow, .unread, .ended, .outOfResources: self = .ended
        }
    }
}
