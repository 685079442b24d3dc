internal import RunLoops

/// A port of this process, recorded so that a sender in the same process can detect a deadlock with the port.
///
/// If a thread waits for the port while the port's loop waits for that thread, neither wait ever ends.
/// ``beginWait(in:_:before:isOver:)`` detects this.
struct LocalPort: Sendable {
    /// The exclusive right to serve the port, which the port's loop holds.
    ///
    /// This value does not hold the port itself, because the port holds the user's filter. Removing the last reference to the port
    /// from ``known`` would destroy the filter, which must not happen while ``known`` is locked.
    private let claim: SharedClaim

    /// The name of a port, and the directory that holds the name.
    ///
    /// For an abstract name, `names` is nil, because an abstract name is in no directory.
    private struct Place: Hashable {
        let name: PortName
        let names: PortNames?

        init(_ name: PortName, _ names: PortNames) {
            self.name = name
            self.names = name.isAbstract ? nil : names
        }
    }

    private static let known = Guarded<[Place: LocalPort]>([:])

    /// Records that a port of this process has taken a name.
    static func add(_ claim: SharedClaim, _ name: PortName, _ names: PortNames) {
        known.withLock { $0[Place(name, names)] = LocalPort(claim: claim) }
    }

    /// Removes the record of a port that releases its name.
    ///
    /// Does nothing if another port of this process has taken the name since.
    static func remove(_ claim: SharedClaim, _ name: PortName, _ names: PortNames) {
        known.withLock { known in
            let place = Place(name, names)
            if known[place]?.claim === claim { known[place] = nil }
        }
    }

    static func find(_ name: PortName, _ names: PortNames) -> LocalPort? {
        known.withLock { $0[Place(name, names)] }
    }

    /// Records that this thread begins to wait for the port, or throws if the wait would never end.
    ///
    /// - Parameters:
    ///   - operation: The public function that the program has called, for diagnostics.
    ///   - origin: The source location at which the sender's ``RemotePort`` was made.
    ///   - deadline: The time at which the thread gives up. If it has passed, no wait begins.
    ///   - isOver: Returns true if there is nothing left to wait for.
    /// - Returns: The wait, or nil if the deadline has passed. The caller must end the wait.
    /// - Throws: ``MessagePortError/Reason/wouldDeadlock`` if the wait would make this thread and others wait for each other in a
    ///   circle.
    func beginWait(
        in operation: StaticString, _ origin: SourceLocation, before deadline: ContinuousClock.Instant?,
        isOver: @escaping @Sendable () -> Bool = { false }
    ) throws(MessagePortError) -> ThreadWait? {
        if let deadline, deadline <= .now { return nil }
        let wait = ThreadWait(
            in: operation, fileID: origin.fileID, line: Int(origin.line), endsByItself: deadline != nil,
            for: { isOver() ? [] : [claim.waitTarget] })
        if wait.begin() != nil { throw MessagePortError(.wouldDeadlock) }
        return wait
    }
}
