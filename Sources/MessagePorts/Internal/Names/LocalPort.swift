internal import RunLoops

/// A port of this process, as its senders in the same process see it.
///
/// A thread that waits for such a port can deadlock: if the port's loop waits for that thread, neither wait ever ends.
struct LocalPort: Sendable {
    /// The port's claim.
    ///
    /// This value holds the claim and not the port. Otherwise removing the value from the table of known ports could release the
    /// last reference to the port, and so the user's filter, which must not happen under the table's lock.
    private let claim: SharedClaim

    /// A name and the place where it is kept.
    ///
    /// An abstract name is the same in all places.
    private struct Place: Hashable {
        let name: PortName
        let names: PortNames?

        init(_ name: PortName, _ names: PortNames) {
            self.name = name
            self.names = name.isAbstract ? nil : names
        }
    }

    private static let known = Guarded<[Place: LocalPort]>([:])

    /// Adds a port that has taken a name.
    static func add(_ claim: SharedClaim, _ name: PortName, _ names: PortNames) {
        known.withLock { $0[Place(name, names)] = LocalPort(claim: claim) }
    }

    /// Removes a port that releases its name, unless the entry of the name belongs to another port by now.
    static func remove(_ claim: SharedClaim, _ name: PortName, _ names: PortNames) {
        known.withLock { known in
            let place = Place(name, names)
            if known[place]?.claim === claim { known[place] = nil }
        }
    }

    static func find(_ name: PortName, _ names: PortNames) -> LocalPort? {
        known.withLock { $0[Place(name, names)] }
    }

    /// Begins a wait for the port, unless the wait would never end.
    ///
    /// - Parameters:
    ///   - operation: The operation that the thread has called.
    ///   - origin: The place in the source where the thread's end of the connection was made.
    ///   - deadline: The time at which the thread gives up. If it has passed, the thread does not wait.
    ///   - isOver: Returns true if there is nothing left to wait for.
    /// - Returns: The wait, which the caller ends, or nil if the thread does not wait.
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
