internal import CRunLoops
internal import Glibc
internal import RunLoops
internal import Synchronization

/// The state of a port between processes: its name, its connections, and the order in which they are read.
///
/// All descriptors of the port are in one ``EpollSet``, and the port's loop watches the set's descriptor. So the port keeps its
/// connections while it is in no loop, but does not read them.
final class MessagePortCore: Sendable {
    /// The token that the set reports for the listener.
    static let listenerToken: UInt64 = 0
    /// The token that the set reports for the alarm.
    static let alarmToken: UInt64 = 1
    /// The token that the set reports for the watch of the name.
    static let nameToken: UInt64 = 2
    /// The token of a report that stands for the program's turn; the set never reports it.
    static let turnToken: UInt64 = 3
    /// The largest token that does not belong to a connection.
    ///
    /// The token of a connection is its number, which is larger.
    private static let numberBelowConnections: UInt64 = 3

    let name: PortName
    private let names: PortNames
    let limits: MessagePort.Options
    let origin: SourceLocation
    let admits: @Sendable (PeerCredentials) -> Bool
    let set: EpollSet
    let pool: PacketPool
    let counters = PortCounters()
    private let kept: KeptPackets
    private let reports = RateLimitedLog()

    /// The exclusive right of one loop to read the connections.
    ///
    /// Only the thread of that loop accesses `reads` and `input`.
    let claim = SharedClaim()

    /// The connections to read next.
    ///
    /// `nonisolated(unsafe)`: this property and the next one are guarded by ``claim``.
    nonisolated(unsafe) let reads: ReadQueue
    nonisolated(unsafe) var input: MessagePortInput?

    /// True once the port has ended; set under the lock of `state`.
    private let closedFlag = Atomic(false)

    private let state: Guarded<State>

    private struct State: Sendable {
        /// The name and the listener, or nil once the port has ended.
        var listener: PortListener?
        var connections: ConnectionTable
        /// The loop that the port is in, or nil if it is in no loop.
        var loop: RunLoop?
        var endCallbacks = LoopCallbacks()
    }

    init(
        _ name: PortName, _ names: PortNames, _ limits: MessagePort.Options, _ origin: SourceLocation,
        _ admits: @escaping @Sendable (PeerCredentials) -> Bool
    ) throws(MessagePortError) {
        Fork.check("MessagePort")
        do { try Fork.watch() } catch { throw .system(error) }
        limits.check()
        self.name = name
        self.names = names
        self.limits = limits
        self.origin = origin
        self.admits = admits
        pool = PacketPool(forBodiesOf: limits.messageByteLimit)
        kept = KeptPackets(limits)
        do {
            try PacketSocket.checkRoom(forBodiesOf: limits.messageByteLimit)
            set = try EpollSet()
            let reads = try ReadQueue()
            unsafe self.reads = reads
            let listener = PortListener(try names.register(name))
            let connections = ConnectionTable(
                ConnectionQuota(limits, ownUser: geteuid()),
                numbersAbove: MessagePortCore.numberBelowConnections)
            state = Guarded(State(listener: listener, connections: connections))
            try listener.watch(in: set)
            try set.add(reads.deadlines.descriptor, [.reading, .edge], token: MessagePortCore.alarmToken)
        } catch let error as SystemError {
            throw .system(error)
        } catch let error as PortNameError {
            throw .name(error)
        } catch let error as MessagePortError {
            throw error
        } catch {
            preconditionFailure("nothing else is thrown: \(error)")
        }
        LocalPort.add(claim, name, names)
    }

    /// True once the port has ended.
    ///
    /// The loop looks at this before each call of a handler.
    var isClosed: Bool { closedFlag.load(ordering: .acquiring) }

    /// The name and the listener, or nil once the port has ended.
    var listener: PortListener? { state.withLock { $0.listener } }

    var statistics: MessagePort.Statistics {
        var statistics = counters.statistics
        statistics.connections = connectionCount
        return statistics
    }

    /// Logs an event that cannot be reported to a caller.
    ///
    /// - Parameters:
    ///   - line: The event, worded so that the port's name in front of it makes a sentence.
    ///   - peer: The peer that the event is about, if there is one.
    func log(_ line: @autoclosure () -> String, about peer: PeerCredentials? = nil) {
        reports.report(
            "MessagePort \"\(name)\" \(line())", RateLimitedLog.details(ofPort: name, peer: peer))
    }

    // MARK: - Connections

    var connectionCount: Int { state.withLock { $0.connections.count } }

    /// True if the port has no place for another connection.
    ///
    /// A connection that the filter is still deciding about takes a place, too, and so does one that has ended and whose requests
    /// the program still holds.
    var isFull: Bool { state.withLock { $0.connections.placeCount >= limits.connectionLimit } }

    func connection(_ token: UInt64) -> PortConnection? { state.withLock { $0.connections[token] } }

    /// Reserves a place for a connection that the filter decides about next.
    ///
    /// - Returns: The connection's number, or nil if the peer's process or user already has the maximum number of connections.
    func reservePlace(for peer: PeerCredentials) -> UInt64? {
        state.withLock { $0.connections.reserve(for: peer) }
    }

    /// Releases the place of a connection that is not admitted.
    func cancelPlace(_ number: UInt64, of peer: PeerCredentials) {
        state.withLock { $0.connections.cancel(number, of: peer) }
    }

    /// True while the filter is deciding about a connection, or has admitted a connection that the port's set does not watch yet.
    func isUndecided(_ number: UInt64) -> Bool { state.withLock { $0.connections.isUndecided(number) } }

    /// Records that a connection is no longer undecided.
    ///
    /// Call this when the port's set watches the connection, or cannot watch it.
    func decide(_ number: UInt64) { state.withLock { $0.connections.decide(number) } }

    /// Adds a connection in its reserved place.
    ///
    /// - Returns: The connection, or nil if the port has ended meanwhile. In that case the socket is closed.
    func add(
        _ socket: consuming PacketSocket, _ number: UInt64, of credentials: PeerCredentials
    ) -> PortConnection? {
        let peer = MessagePort.Peer(id: number, credentials: credentials)
        let connection = PortConnection(socket, peer, limits, set, counters, kept, of: WeakReference(self))
        let isOpen = state.withLock { state in
            if state.listener == nil {
                // The place is released with the connection.
                state.connections.decide(number)
                return false
            }
            state.connections.add(connection)
            return true
        }
        if isOpen && Recorder.isOn { Recorder.noteConnection(to: name.description, began: true) }
        return isOpen ? connection : nil
    }

    /// Releases the place of a connection whose descriptor is about to be closed; any thread may call this.
    func releasePlace(of peer: PeerCredentials) {
        let (wasFull, loop) = state.withLock { state in
            defer { state.connections.release(peer) }
            return (state.connections.placeCount >= limits.connectionLimit, state.loop)
        }
        // Usually the place is released when the connection ends, and the port's loop then accepts connections again.
        if !wasFull { return }
        loop?.performInEveryMode { [self] in
            if claim.loopHere != nil { listenAgain() }
        }
    }

    /// Removes a connection, and closes it.
    ///
    /// - Returns: True if the port still had the connection.
    func remove(_ connection: PortConnection) -> Bool {
        let wasKnown = state.withLock { $0.connections.remove(connection) }
        _ = connection.end()
        if wasKnown { set.remove(connection.socket.descriptor) }
        if wasKnown && Recorder.isOn { Recorder.noteConnection(to: name.description, began: false) }
        return wasKnown
    }

    // MARK: - End

    /// Ends the port: releases its name, and closes every connection.
    ///
    /// Any thread may call this. A second call does nothing.
    func close() {
        if Fork.isChild { return closeInForkedChild() }
        typealias Ended = (
            listener: PortListener, connections: [PortConnection], loop: RunLoop?, endCallbacks: LoopCallbacks
        )
        let ended = state.withLock { state -> Ended? in
            guard let listener = state.listener else { return nil }
            state.listener = nil
            let endCallbacks = exchange(&state.endCallbacks, with: LoopCallbacks())
            closedFlag.store(true, ordering: .releasing)
            return (listener, state.connections.removeAll(), state.loop, endCallbacks)
        }
        guard let ended else { return }
        LocalPort.remove(claim, name, names)
        // The name is released before the connections are closed, so that the name is free by the time that a peer notices the end.
        ended.listener.release(set)
        for connection in ended.connections {
            _ = connection.end()
            set.remove(connection.socket.descriptor)
        }
        if claim.loopHere != nil {
            leaveLoop()
        } else if let loop = ended.loop {
            // The port leaves the loop in whichever mode the loop runs next, because a port that has ended must not keep a mode
            // alive.
            loop.performInEveryMode { self.leaveLoop() }
        }
        ended.endCallbacks.schedule()
    }

    /// Releases the child's copies of the descriptors, and the handlers.
    ///
    /// The name, the connections and the port's set belong to the parent.
    private func closeInForkedChild() {
        let released = state.withLock { state in
            defer {
                state.listener = nil
                state.endCallbacks = LoopCallbacks()
                closedFlag.store(true, ordering: .releasing)
            }
            return (state.listener, state.connections.removeAll())
        }
        unsafe input?.releaseHandlers()
        withExtendedLifetime(released) {}
    }

    private func leaveLoop() {
        guard claim.loopHere != nil, let input = unsafe input else { return }
        input.input.leave()
    }

    /// Adds a callback, which its loop calls when the port ends.
    ///
    /// If the port has ended already, the call is scheduled immediately.
    func addInvalidationHandler(_ callback: LoopCallback) {
        let isNow = state.withLock { state in
            if state.listener != nil { state.endCallbacks.add(callback) }
            return state.listener == nil
        }
        if isNow { callback.schedule() }
    }

    // MARK: - The loop

    /// The loop that the port is in, or nil if it is in no loop.
    var loop: RunLoop? { state.withLock { $0.loop } }

    /// Records the loop that the port is in, or nil for no loop.
    func setLoop(_ loop: RunLoop?) { state.withLock { $0.loop = loop } }
}
