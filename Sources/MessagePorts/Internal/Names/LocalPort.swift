internal import RunLoops

/// A port of this process, as those see it who send to it: for them a wait may be for their own thread.
struct LocalPort: Sendable {
    /// The port's, and not the port: the last reference to that takes the user's filter with it, and must not be one that
    /// came about here, under a lock.
    private let claim: SharedClaim

    /// Which name, and where it is kept; abstract ones are the same everywhere.
    private struct Place: Hashable {
        let name: PortName
        let names: PortNames?

        init(_ name: PortName, _ names: PortNames) {
            self.name = name
            self.names = name.isAbstract ? nil : names
        }
    }

    private static let known = Guarded<[Place: LocalPort]>([:])

    /// Notes a port that has a name now.
    static func add(_ port: MessagePortCore, _ name: PortName, _ names: PortNames) {
        known.withLock { $0[Place(name, names)] = LocalPort(claim: port.claim) }
    }

    /// Forgets a port that gives its name up, unless another one has the name already.
    static func remove(_ port: MessagePortCore, _ name: PortName, _ names: PortNames) {
        known.withLock { known in
            let place = Place(name, names)
            if known[place]?.claim === port.claim { known[place] = nil }
        }
    }

    static func find(_ name: PortName, _ names: PortNames) -> LocalPort? {
        known.withLock { $0[Place(name, names)] }
    }

    /// Begins a wait for the port, unless it would never end.
    ///
    /// - Parameters:
    ///   - operation: What the thread has called.
    ///   - origin: Where its end of the connection was made.
    ///   - deadline: When it gives up; where that has passed nobody waits.
    ///   - isOver: Whether there is nothing to wait for any more.
    /// - Returns: The wait, to be ended; nil if nobody needs to know of it.
    /// - Throws: ``MessagePortError/wouldDeadlock``.
    func beginWait(
        in operation: StaticString, _ origin: SourceLocation, before deadline: ContinuousClock.Instant?,
        isOver: @escaping @Sendable () -> Bool = { false }
    ) throws(MessagePortError) -> ThreadWait? {
        if let deadline, deadline <= .now { return nil }
        let wait = ThreadWait(
            in: operation, fileID: origin.fileID, line: Int(origin.line), endsByItself: deadline != nil,
            for: { isOver() ? [] : [claim.waitTarget] })
        if wait.begin() != nil { throw .wouldDeadlock }
        return wait
    }
}
