internal import RunLoops
internal import Synchronization

/// The sender's end of a connection with a port.
///
/// It sends messages and receives replies for any number of threads and tasks. If the connection was made for a loop, only the loop
/// reads it. Otherwise, the threads that wait for replies read it, and the ``ConnectionService`` reads it for tasks.
final class RemoteConnection: Sendable {
    let socket: PacketSocket
    /// The quota that counts the descriptors that the port has sent.
    let quota: DescriptorQuota
    /// The process at the other end.
    let peer: PeerCredentials
    /// The number of descriptors that a reply may carry.
    let mostDescriptors: Int
    let name: PortName
    let origin: SourceLocation
    /// The port at the other end if it belongs to this process, and otherwise nil.
    let local: LocalPort?
    let pool: PacketPool
    let log = RateLimitedLog()
    /// The additional state for a connection that was made for a loop; nil for any other connection.
    let reading: LoopReading?
    let state: Guarded<State>
    /// True once this process has ended the connection with ``RemotePort/invalidate()``.
    private let endedHere = Atomic(false)

    struct State: Sendable {
        /// The state that decides which frames are allowed to arrive.
        var connection: ConnectionState
        /// The port's limits, or nil until the port has admitted this process.
        var limits: Frame.Limits?
        var requests = RequestTable()
        var role: ReaderRole
        var endCallbacks = LoopCallbacks()
        /// The service that watches this connection, or nil until it is needed.
        var watch: Watch?
        /// The reason that the connection has ended, or nil while it is open.
        var ended: MessagePortError?
        /// The number of messages that were discarded, because no loop reads the connection.
        var discardedMessageCount = 0

        /// The next step of a thread that waits for a reply.
        enum Turn {
            /// The thread returns, because the request is decided.
            case leave
            /// The thread reads the replies to all requests.
            case read
            /// The thread waits until the request is decided, or until it is woken to check again.
            case wait(ThreadGate)
        }

        /// Returns the next step of the thread that waits for a request.
        ///
        /// If the connection has no reader, the thread becomes the reader.
        mutating func turn(of request: PendingRequest) -> Turn {
            if request.isDecided { return .leave }
            if role.acquireForThread() {
                _ = request.attach(.noWaiter)
                return .read
            }
            let gate = ThreadGate()
            _ = request.attach(.thread(gate))
            return .wait(gate)
        }

        /// The events for which the service must watch the connection; empty if there are none.
        var serviceInterest: ReaderRole.ServiceInterest {
            var interest: ReaderRole.ServiceInterest = endCallbacks.isEmpty ? [] : .end
            if requests.taskCount > 0 { interest.insert(.replies) }
            return interest
        }
    }

    struct Watch: Sendable {
        let service: ConnectionService
        let token: UInt64
    }

    /// Connects to a port.
    ///
    /// Unless a loop will read the connection, this then waits until the port admits this process.
    init(
        _ name: PortName, _ names: PortNames, messageByteLimit: Int, descriptors: Int, origin: SourceLocation,
        before deadline: ContinuousClock.Instant?, isReadByLoop: Bool
    ) throws(MessagePortError) {
        Fork.check("RemotePort")
        do { try Fork.watch() } catch { throw .system(error) }
        self.name = name
        self.origin = origin
        mostDescriptors = descriptors
        local = LocalPort.find(name, names)
        let wait = try local?.beginWait(in: "RemotePort.init", origin, before: deadline)
        defer { wait?.end() }
        let ownLimits = Frame.Limits(
            bodyLength: UInt32(messageByteLimit), descriptorCount: UInt32(descriptors))
        var connection = ConnectionState(.client, limits: ownLimits)
        pool = PacketPool(forBodiesOf: messageByteLimit)
        let limits: Frame.Limits?
        do {
            socket = try names.connect(to: name, before: deadline)
            quota = socket.quota ?? DescriptorQuota(of: nil)
            peer = try socket.peer
            try RemoteConnection.sendHello(socket, ownLimits, deadline)
            if isReadByLoop {
                let reading = try LoopReading(origin)
                try reading.set.add(socket.descriptor, .reading, token: LoopReading.socketToken)
                self.reading = reading
                limits = nil
            } else {
                reading = nil
                limits = try RemoteConnection.receiveWelcome(socket, &connection, pool, deadline)
            }
        } catch let error as PortNameError {
            throw error.reason == .timedOut ? MessagePortError(.timedOut) : .name(error)
        } catch let error as SystemError {
            throw .system(error)
        } catch let error as MessagePortError {
            throw error
        } catch {
            preconditionFailure("nothing else is thrown: \(error)")
        }
        state = Guarded(
            State(connection: connection, limits: limits, role: ReaderRole(isReadByLoop: isReadByLoop)))
        if Recorder.isOn { Recorder.noteConnection(to: name.description, began: true) }
    }

    deinit { end(MessagePortError(.ended)) }

    var isEnded: Bool { state.withLock { $0.ended != nil } }
    var lateReplyCount: Int { state.withLock { $0.requests.lateCount } }
    var discardedMessageCount: Int { state.withLock { $0.discardedMessageCount } }
    var limits: Frame.Limits? { state.withLock { $0.limits } }
    var wasAdmitted: Bool { limits != nil }
    /// The reason that the connection has ended, or nil while it is open.
    var ending: MessagePortError? { state.withLock { $0.ended } }

    // MARK: - End

    /// Ends the connection for this process, whose handlers are not called any more.
    func invalidate() {
        endedHere.store(true, ordering: .releasing)
        if Fork.isChild { endInForkedChild() } else { end(MessagePortError(.ended)) }
    }

    /// True if this process has ended the connection.
    var wasEndedHere: Bool { endedHere.load(ordering: .acquiring) }

    /// Releases the handlers; the socket is the parent's, too, and is closed with this object.
    private func endInForkedChild() {
        state.withLock { state in
            state.ended = state.ended ?? MessagePortError(.ended)
            state.endCallbacks = LoopCallbacks()
        }
        unsafe reading?.input?.releaseHandlers()
    }

    /// Ends the connection.
    ///
    /// Every pending request fails with the reason, and the handlers that wait for the end are scheduled. Any thread may call this.
    /// A second call does nothing.
    func end(_ reason: MessagePortError) {
        // In a forked child, the connection and the descriptors that the service watches belong to the parent.
        if Fork.isChild { return }
        let ended = state.withLock {
            state -> (waiters: [PendingRequest.Waiter], endCallbacks: LoopCallbacks, watch: Watch?)? in
            if state.ended != nil { return nil }
            state.ended = reason
            _ = state.connection.end()
            defer {
                state.endCallbacks = LoopCallbacks()
                state.watch = nil
            }
            let waiters = state.requests.removeAll().map { $0.decide(.failure(reason)) }
            return (waiters, state.endCallbacks, state.watch)
        }
        guard let ended else { return }
        if Recorder.isOn { Recorder.noteConnection(to: name.description, began: false) }
        if let watch = ended.watch { watch.service.remove(watch.token, socket.descriptor) }
        // This wakes a thread that waits for a packet, so that it finds that the connection has ended.
        socket.shutDown()
        for waiter in ended.waiters { waiter.wake() }
        ended.endCallbacks.schedule()
    }

    /// Adds a callback, which is scheduled on its loop when the connection ends, or immediately if the connection has already
    /// ended.
    func addInvalidationHandler(_ callback: LoopCallback) {
        let isNow = state.withLock { state in
            if state.ended == nil { state.endCallbacks.add(callback) }
            return state.ended != nil
        }
        if isNow { return callback.schedule() }
        ensureReader()
    }
}
