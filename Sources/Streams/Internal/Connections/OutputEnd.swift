internal import RunLoops

/// The second descriptor of a connection, which only writes to it, as a member of the connection's groups.
///
/// > Thread safety: the loop's own thread only.
final class OutputEnd {
    /// The connection, which holds this object, and is in the same groups.
    private weak var connection: Connection?
    let descriptor: CInt
    var places = MemberPlaces(.edge)

    init(_ connection: Connection, _ descriptor: CInt) {
        self.connection = connection
        self.descriptor = descriptor
    }

    func join(_ group: StreamGroup) throws(SystemError) { try places.join(group, self, descriptor) }

    func leave(_ group: StreamGroup) { places.leave(group, descriptor) }

    /// Leaves all groups, before the descriptor is closed.
    func leaveAll() { places.leaveAll(descriptor) }

    /// Changes the readiness for which the groups watch the descriptor.
    ///
    /// The kernel reports in any case that nobody reads any more.
    func watch(isBlocked: Bool) { places.watch(for: isBlocked ? .writing : .edge, descriptor) }

    /// Stops the reports until ``watch(isBlocked:)`` is called, which brings them again.
    func postpone() { places.watch(for: [.edge, .hangUp], descriptor) }
}

extension OutputEnd: StreamMember {
    func serve(_ readiness: EpollSet.Interest, in loop: LoopStreams, _ budget: inout Budget) -> Bool {
        connection?.serveOutput(readiness, in: loop) ?? false
    }

    /// The connection is a member, too, and ends itself.
    func loopEnds() {}

    var part: InspectedPart {
        InspectedPart("output of a connection", madeAt: connection?.origin, [.init("outputs", 1)])
    }
}

extension Connection {
    /// Answers a report of the second descriptor.
    func serveOutput(_ readiness: EpollSet.Interest, in loop: LoopStreams) -> Bool {
        if state.machine.isCalling {
            state.outputEnd?.postpone()
            return false
        }
        guard isAdmitted else { return false }
        if !readiness.isDisjoint(with: .writing) {
            state.output.isBlocked = false
            if case .driver(let driver) = handlers.receiver { driver.connectionIsReady(.space) }
        }
        // A terminal that accepts no bytes, and whose other end is closed, only hangs up.
        let hasHungUp = state.output.isBlocked && readiness.contains(.closed)
        if hasHungUp || readiness.contains(.error) { state.machine.end(.reset) }
        return settle(loop.now)
    }
}
