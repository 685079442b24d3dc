internal import CThreads
internal import Glibc
internal import RunLoops

/// What a port between processes is: its name, its connections, and what waits to be read.
///
/// Everything that can become ready is in one ``EpollSet``, behind one descriptor that the port's loop watches. So the port
/// keeps its connections while it is in no loop, and nothing is read then.
final class MessagePortCore: Sendable {
    /// What the set reports the listener and the alarm by; connections have the numbers from here on.
    static let listenerToken: UInt64 = 0
    static let alarmToken: UInt64 = 1
    private static let firstConnection: UInt64 = 2

    let name: PortName
    private let names: PortNames
    let limits: MessagePort.Limits
    let origin: SourceLocation
    let admits: @Sendable (PeerCredentials) -> Bool
    let set: EpollSet
    let pool: PacketPool
    let counters = PortCounters()
    let reports = RateLimitedLog()

    /// Which loop reads: only that loop's thread touches `receiving` and `input`.
    let claim = SharedClaim()

    /// `nonisolated(unsafe)`, these two: guarded by ``claim``.
    nonisolated(unsafe) let receiving: PortReceiving
    nonisolated(unsafe) var input: MessagePortInput?

    private let life: Guarded<Life>

    private struct Life: Sendable {
        /// The name and the listener; nil once the port has ended.
        var registration: Registration?
        var connections: [UInt64: PortConnection] = [:]
        /// The numbers of those that the filter is being asked about, or that are not watched yet.
        var asked: Set<UInt64> = []
        /// Whose they all are.
        var shares: PeerShares
        var lastConnection = MessagePortCore.firstConnection
        /// The loop that the port is in.
        var loop: RunLoop?
        var watchers = EndWatchers()
    }

    init(
        _ name: PortName, _ names: PortNames, _ limits: MessagePort.Limits, _ origin: SourceLocation,
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
        pool = PacketPool(forBodiesOf: limits.body)
        do {
            try PacketSocket.checkRoom(forBodiesOf: limits.body)
            set = try EpollSet()
            let receiving = try PortReceiving()
            unsafe self.receiving = receiving
            let registration = Registration(try names.register(name))
            life = Guarded(Life(registration: registration, shares: PeerShares(limits, ownUser: geteuid())))
            try registration.watch(in: set)
            try set.add(
                receiving.alarm.descriptor, [.reading, .edge], token: MessagePortCore.alarmToken)
        } catch let error as SystemError {
            throw .system(error)
        } catch let error as PortNameError {
            throw .name(error)
        } catch let error as MessagePortError {
            throw error
        } catch {
            preconditionFailure("nothing else is thrown: \(error)")
        }
        LocalPort.add(self, name, names)
    }

    var isClosed: Bool { life.withLock { $0.registration == nil } }

    /// The name and the listener, unless the port has ended.
    var registration: Registration? { life.withLock { $0.registration } }

    var statistics: MessagePort.Statistics {
        var statistics = counters.statistics
        statistics.connections = connectionCount
        return statistics
    }

    // MARK: - Connections

    var connectionCount: Int { life.withLock { $0.connections.count } }

    /// Whether there is no place for one more connection, those counted that the filter is being asked about.
    var isFull: Bool {
        life.withLock { life in
            let coming = life.asked.count { life.connections[$0] == nil }
            return life.connections.count + coming >= limits.connections
        }
    }

    func connection(_ token: UInt64) -> PortConnection? { life.withLock { $0.connections[token] } }

    /// Takes a place for a connection, about which the filter is asked next.
    ///
    /// - Returns: The connection's number; nil if its process or its user has as many as it may.
    func takePlace(for peer: PeerCredentials) -> UInt64? {
        life.withLock { life in
            if !life.shares.take(peer) { return nil }
            life.lastConnection += 1
            life.asked.insert(life.lastConnection)
            return life.lastConnection
        }
    }

    /// Gives the place of a connection back that has not come about.
    func giveBackPlace(_ number: UInt64, of peer: PeerCredentials) {
        life.withLock { life in
            life.asked.remove(number)
            life.shares.giveBack(peer)
        }
    }

    /// Whether the filter is being asked about a connection, or it is not watched yet.
    func isAskedAbout(_ number: UInt64) -> Bool { life.withLock { $0.asked.contains(number) } }

    /// The connection is watched now, or has come to nothing.
    func endAsking(about number: UInt64) { life.withLock { _ = $0.asked.remove(number) } }

    /// Notes a connection, for which there is a place.
    ///
    /// - Returns: Nil if the port has ended meanwhile: the connection is closed.
    func add(
        _ socket: consuming PacketSocket, _ number: UInt64, of credentials: PeerCredentials
    ) -> PortConnection? {
        let peer = MessagePort.Peer(connection: number, credentials: credentials)
        let connection = PortConnection(socket, peer, limits, set, counters)
        let isOpen = life.withLock { life in
            if life.registration == nil {
                life.asked.remove(number)
                life.shares.giveBack(credentials)
                return false
            }
            life.connections[number] = connection
            return true
        }
        return isOpen ? connection : nil
    }

    /// Forgets a connection, and closes it.
    ///
    /// - Returns: Whether it was there.
    func remove(_ connection: PortConnection) -> Bool {
        let known = life.withLock { life in
            let known = life.connections.removeValue(forKey: connection.token)
            if known != nil { life.shares.giveBack(connection.peer.credentials) }
            return known
        }
        _ = connection.end()
        if known != nil { set.remove(connection.socket.descriptor) }
        return known != nil
    }

    // MARK: - Place in a loop

    /// Puts the port into a mode.
    func join(
        _ loop: RunLoop, _ mode: RunLoop.Mode, port: AnyObject,
        deliver: @escaping (consuming MessagePort.Message) -> Void
    ) throws(SystemError) {
        if loop.hasEnded || isClosed { return }
        guard claim.take(for: loop) else {
            misuse("RunLoop.add(port): the port made at \(origin) is in another loop; remove it there first")
        }
        let joined = unsafe input ?? MessagePortInput(port, self, loop)
        do { try joined.input.join(mode, server: joined) } catch {
            if unsafe input == nil { claim.release() }
            throw error
        }
        unsafe input = joined
        life.withLock { $0.loop = loop }
        joined.add(deliver, for: mode)
        joined.resume()
        // It may have been closed by another thread since it was looked at, which then found no loop to tell.
        if isClosed { joined.input.leave() }
    }

    /// Takes the port out of a mode.
    ///
    /// What was sent waits.
    func leave(_ mode: RunLoop.Mode) {
        guard claim.loopHere != nil, let input = unsafe input else { return }
        let removed = input.removeHandlers(for: mode)
        input.input.leave(mode)
        withExtendedLifetime(removed) {}
    }

    /// The port has left its loop.
    func hasLeft() {
        life.withLock { $0.loop = nil }
        unsafe input = nil
        claim.release()
    }

    /// Has the loop that the port is in call a handler when a sender has gone.
    func onPeerEnd(_ handler: @escaping (MessagePort.Peer) -> Void) {
        Fork.check("MessagePort.onPeerEnd")
        guard claim.loopHere != nil, let input = unsafe input else {
            // A port that has ended, and every port in a loop that has, leaves it without being asked.
            if isClosed || RunLoop.existing?.hasEnded == true { return }
            misuse(
                "MessagePort.onPeerEnd: the port made at \(origin) is not in this thread's loop; add it to the loop first, and ask on its thread"
            )
        }
        let replaced = input.peerEnded
        input.peerEnded = handler
        // Not in the change itself: what it holds may come back here.
        withExtendedLifetime(replaced) {}
    }

    // MARK: - End

    /// Gives up the name, and closes every connection.
    ///
    /// Any thread; again is harmless.
    func close() {
        // In a forked child, the name and the connections are its parent's.
        if Fork.isChild { return }
        let ended = life.withLock { life -> Life? in
            if life.registration == nil { return nil }
            defer {
                life.registration = nil
                for connection in life.connections.values {
                    life.shares.giveBack(connection.peer.credentials)
                }
                life.connections = [:]
                life.watchers = EndWatchers()
            }
            return life
        }
        guard let ended else { return }
        LocalPort.remove(self, name, names)
        // Before the connections, so that the name is free for whoever hears of their end.
        ended.registration?.giveUp(set)
        for connection in ended.connections.values {
            _ = connection.end()
            set.remove(connection.socket.descriptor)
        }
        if claim.loopHere != nil {
            leaveLoop()
        } else if let loop = ended.loop {
            // In whatever mode it runs: it is not to be kept alive by a port that has ended.
            loop.performInEveryMode { self.leaveLoop() }
        }
        ended.watchers.tell()
    }

    /// A place has become free that a filter gives back after the port has left the loop in which it was asked.
    func placeBecameFreeElsewhere() {
        // In no loop, the port listens when it is in one again.
        life.withLock { $0.loop }?.performInEveryMode { [self] in
            if claim.loopHere != nil { listenAgain() }
        }
    }

    private func leaveLoop() {
        guard claim.loopHere != nil, let input = unsafe input else { return }
        input.input.leave()
    }

    /// Has a loop's handler called when the port ends, which may be now.
    func onInvalidation(_ watcher: EndWatcher) {
        let isNow = life.withLock { life in
            if life.registration != nil { life.watchers.add(watcher) }
            return life.registration == nil
        }
        if isNow { watcher.tell() }
    }
}
