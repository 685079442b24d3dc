internal import CRunLoops
internal import Glibc
internal import RunLoops

/// The object that makes one connection: it resolves the name, tries the addresses, and takes the first address that answers.
///
/// Until an address answers, the connection has no socket, and its loop watches a descriptor that the resolver makes readable.
///
/// > Thread safety: the loop's own thread only.
final class Connecting {
    let endpoint: Endpoint
    private var lookUp: LookUp?
    /// The ticket of the resolver; nil if the host need not be looked up.
    private var ticket: NameResolver.Ticket?
    private var race: AddressRace?
    private var attempts: [ConnectionAttempt] = []
    /// The reason for the most recent failure of an attempt; nil if no attempt has failed.
    private var failure: Connection.EndReason?

    init(to endpoint: Endpoint) { self.endpoint = endpoint }

    // A connection that is removed from its last mode can be destroyed before it has ended.
    deinit { giveUpLookUp() }

    /// The descriptor that the loop watches; -1 before the first call of ``join(_:_:)``.
    var descriptor: CInt { lookUp?.descriptor ?? -1 }

    /// The moment at which the next address is tried; nil if no such moment is set.
    var nextStart: Moment? { race?.nextStart }

    // MARK: - Modes

    /// Adds the connection and its attempts to a group, and starts the look-up if this is the first group.
    ///
    /// - Throws: `SystemError` if the process cannot open more descriptors.
    func join(_ group: StreamGroup, _ connection: Connection) throws(SystemError) {
        let isNew = lookUp == nil
        let lookUp: LookUp
        if let known = self.lookUp { lookUp = known } else { lookUp = try LookUp() }
        try connection.places.join(group, connection, lookUp.descriptor)
        do throws(SystemError) {
            for attempt in attempts { try attempt.places.join(group, attempt, attempt.descriptor) }
        } catch {
            for attempt in attempts { attempt.places.leave(group, attempt.descriptor) }
            connection.places.leave(group, lookUp.descriptor)
            throw error
        }
        self.lookUp = lookUp
        if isNew { begin(lookUp) }
    }

    func leave(_ group: StreamGroup, _ connection: Connection) {
        connection.places.leave(group, descriptor)
        for attempt in attempts { attempt.places.leave(group, attempt.descriptor) }
    }

    // MARK: - The look-up

    private func begin(_ lookUp: LookUp) {
        switch endpoint {
        case .address(let address): lookUp.finish(with: .success([address]))
        case .unix(let path): lookUp.finish(with: Connecting.answer(SocketAddress(path: path)))
        case .abstract(let name):
            lookUp.finish(with: Connecting.answer(SocketAddress(abstractName: name)))
        case .tcp(let host, let port):
            if let answer = NameResolver.answer(host: host, port: port) { return lookUp.finish(with: answer) }
            ticket = NameResolver.shared.ask(host) { answer in
                lookUp.finish(with: answer.map { addresses in addresses.map { $0.with(port: port) } })
            }
        }
    }

    /// The answer to the look-up of a Unix socket; its address is nil if the name is too long.
    private static func answer(_ address: SocketAddress?) -> NameAnswer {
        address.map { .success([$0]) } ?? .failure(.failed(SystemError(call: "connect", code: ENAMETOOLONG)))
    }

    // MARK: - The race

    /// Continues after an event, such as an answer of the resolver, or the moment to try the next address.
    func goOn(_ connection: Connection, _ now: Moment) {
        if connection.state.machine.hasEnded { return }
        switch lookUp?.takeAnswer() {
        case .success(let addresses): race = AddressRace(addresses)
        case .failure(let failure): return connection.state.machine.end(failure.endReason)
        case nil: break
        }
        while connection.connecting === self, let address = race?.takeNext(at: now) {
            start(address, connection, now)
        }
        if connection.connecting === self, let race, race.isLost {
            connection.state.machine.end(failure ?? .reset)
        }
    }

    private func start(_ address: SocketAddress, _ connection: Connection, _ now: Moment) {
        var isConnected = false
        var call: UnsafePointer<CChar>?
        // Safe: the C function reads the address, and only writes to local variables; `call` then points to a constant string.
        let result = unsafe runloops_connect_stream(
            address.bytes, UInt32(address.bytes.count), &isConnected, &call)
        if result == -1 {
            let code = errno
            // The error means that the backlog of a listener on a Unix socket is full. A blocking socket would wait here, so the
            // address is tried again later. For TCP, the kernel retries by itself.
            if code == EAGAIN && !address.isIP {
                race?.isBusy(address, at: now)
                return
            }
            let name = unsafe call.map { unsafe String(cString: $0) } ?? "connect"
            return fail(SystemError(call: name, code: code))
        }
        let socket = OwnedDescriptor(result)
        if address.isIP { runloops_send_without_delay(result) }
        if isConnected { return succeed(socket, connection, now) }
        let attempt = ConnectionAttempt(socket, connection)
        do throws(SystemError) {
            for place in connection.places.list {
                try attempt.places.join(place.group, attempt, attempt.descriptor)
            }
        } catch {
            attempt.places.leaveAll(attempt.descriptor)
            return fail(error)
        }
        attempts.append(attempt)
    }

    private func fail(_ error: SystemError) {
        failure = .failed(error)
        race?.didFail()
    }

    /// Ends all attempts that have succeeded or failed, even if the loop has not been notified of the results yet.
    func endReadyAttempts(_ connection: Connection, _ now: Moment) {
        for attempt in attempts
        where connection.connecting === self && runloops_is_writable(attempt.descriptor) {
            attemptEnded(attempt, connection, now)
        }
    }

    /// Called when the kernel has reported that an attempt has succeeded or failed.
    func attemptEnded(_ attempt: ConnectionAttempt, _ connection: Connection, _ now: Moment) {
        let code = runloops_take_error(attempt.descriptor)
        attempt.places.leaveAll(attempt.descriptor)
        attempts.removeAll { $0 === attempt }
        if code == 0, let socket = attempt.takeSocket() {
            succeed(socket, connection, now)
        } else {
            fail(SystemError(call: "connect", code: code))
        }
        if connection.connecting === self { goOn(connection, now) }
    }

    /// Takes an attempt that has succeeded, unless the socket is connected to itself.
    ///
    /// If no process listens at a local port, the kernel may choose that very port for this end, and then TCP connects the socket to
    /// itself. Nobody listens, so the attempt is refused. The socket is reset, so that the port is free for its server.
    private func succeed(_ socket: consuming OwnedDescriptor, _ connection: Connection, _ now: Moment) {
        if runloops_is_connected_to_itself(socket.descriptor) {
            runloops_reset_when_closed(socket.descriptor)
            return fail(SystemError(call: "connect", code: ECONNREFUSED))
        }
        win(socket, connection, now)
    }

    private func win(_ socket: consuming OwnedDescriptor, _ connection: Connection, _ now: Moment) {
        let groups = connection.places.list.map { $0.group }
        let signal = descriptor
        // The connection joins each group with its new descriptor first, and leaves the group with its old descriptor afterwards.
        // In the other order, the group could be without members, and would leave its mode.
        var places = MemberPlaces(.reading)
        do throws(SystemError) {
            for group in groups { try places.join(group, connection, socket.descriptor) }
        } catch {
            places.leaveAll(socket.descriptor)
            return connection.state.machine.end(.failed(error))
        }
        stop(connection)
        connection.places.leaveAll(signal)
        connection.places = places
        connection.connecting = nil
        connection.state.socket.connect(socket)
        // With a filter, such as TLS, the connection is made only when the filter's opening exchange with the peer is complete.
        if connection.state.socket.filter != nil { return }
        connection.state.machine.didConnect()
        connection.state.deadlines.didConnect(at: now)
    }

    /// Abandons the look-up, and the attempts that are under way.
    func stop(_ connection: Connection) {
        giveUpLookUp()
        for attempt in attempts { attempt.places.leaveAll(attempt.descriptor) }
        attempts = []
    }

    private func giveUpLookUp() {
        lookUp?.abandon()
        if let ticket = ticket.take() { NameResolver.shared.giveUp(ticket) }
    }

    /// Makes each attempt forget the groups that it is in, because the loop and its groups have ended.
    func loopEnds() { for attempt in attempts { attempt.places.forget() } }
}

/// An attempt to connect to one of the addresses of a connection's endpoint.
final class ConnectionAttempt: StreamMember {
    var places = MemberPlaces(.writing)
    private var socket: OwnedDescriptor?
    let descriptor: CInt
    /// The connection that the attempt is for.
    ///
    /// `unowned` is safe: the connection is in the same groups as this attempt. Before the connection leaves the groups, it ends
    /// the attempt.
    unowned let connection: Connection

    init(_ socket: consuming OwnedDescriptor, _ connection: Connection) {
        descriptor = socket.descriptor
        self.socket = consume socket
        self.connection = connection
    }

    func takeSocket() -> OwnedDescriptor? { socket.take() }

    func serve(_ readiness: EpollSet.Interest, in loop: LoopStreams, _ budget: inout Budget) -> Bool {
        let connection = connection
        let now = Moment.now()
        connection.connecting?.attemptEnded(self, connection, now)
        return connection.settle(now)
    }

    func loopEnds() { places.forget() }
}
