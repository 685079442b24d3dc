/// The connections of a port by number, and the reserved places of connections that are not admitted yet.
///
/// A place is reserved before the filter decides about the connection. The filter can run the loop, and the loop then accepts more
/// connections.
struct ConnectionTable: Sendable {
    private var connections: [UInt64: PortConnection] = [:]
    /// The numbers of the connections that the filter is deciding about, or that the port's set does not watch yet.
    private var undecided: Set<UInt64> = []
    private var quota: ConnectionQuota
    private var lastNumber: UInt64

    /// Makes an empty table.
    ///
    /// - Parameters:
    ///   - quota: A quota that counts no connections yet.
    ///   - number: A number; the first connection gets the next higher number.
    init(_ quota: ConnectionQuota, numbersAbove number: UInt64) {
        self.quota = quota
        lastNumber = number
    }

    var count: Int { connections.count }

    /// The number of connections, including those that the filter is deciding about.
    var countWithUndecided: Int { connections.count + undecided.count { connections[$0] == nil } }

    subscript(number: UInt64) -> PortConnection? { connections[number] }

    /// Reserves a place for a connection that the filter decides about next.
    ///
    /// - Returns: The connection's number, or nil if the peer's process or user already has the maximum number of connections.
    mutating func reserve(for peer: PeerCredentials) -> UInt64? {
        if !quota.take(peer) { return nil }
        lastNumber += 1
        undecided.insert(lastNumber)
        return lastNumber
    }

    /// Releases a reserved place, because its connection was not admitted.
    mutating func cancel(_ number: UInt64, of peer: PeerCredentials) {
        undecided.remove(number)
        quota.giveBack(peer)
    }

    /// Adds a connection in its reserved place.
    mutating func add(_ connection: PortConnection) { connections[connection.token] = connection }

    /// True while the filter is deciding about a connection, or has admitted a connection that the port's set does not watch yet.
    func isUndecided(_ number: UInt64) -> Bool { undecided.contains(number) }

    /// Records that a connection is no longer undecided.
    ///
    /// Call this when the port's set watches the connection, or cannot watch it.
    mutating func decide(_ number: UInt64) { undecided.remove(number) }

    /// Removes a connection.
    ///
    /// - Returns: True if the connection was in the table.
    mutating func remove(_ connection: PortConnection) -> Bool {
        if connections.removeValue(forKey: connection.token) == nil { return false }
        quota.giveBack(connection.peer.credentials)
        return true
    }

    /// Removes all connections, and returns them.
    ///
    /// Reserved places stay reserved until the filter has decided.
    mutating func removeAll() -> [PortConnection] {
        let removed = Array(connections.values)
        connections = [:]
        for connection in removed { quota.giveBack(connection.peer.credentials) }
        return removed
    }
}
