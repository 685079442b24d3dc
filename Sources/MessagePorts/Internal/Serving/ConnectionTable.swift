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
    /// The number of places that are taken: by connections, by those that the filter is deciding about, and by those that have
    /// ended and whose requests the program still holds.
    private(set) var placeCount = 0

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

    subscript(number: UInt64) -> PortConnection? { connections[number] }

    /// Reserves a place for a connection that the filter decides about next.
    ///
    /// - Returns: The connection's number, or nil if the peer's process or user already has the maximum number of connections.
    mutating func reserve(for peer: PeerCredentials) -> UInt64? {
        if !quota.take(peer) { return nil }
        placeCount += 1
        lastNumber += 1
        undecided.insert(lastNumber)
        return lastNumber
    }

    /// Releases a reserved place, because its connection was not admitted.
    mutating func cancel(_ number: UInt64, of peer: PeerCredentials) {
        undecided.remove(number)
        release(peer)
    }

    /// Releases the place of a connection whose descriptor is about to be closed.
    mutating func release(_ peer: PeerCredentials) {
        quota.giveBack(peer)
        placeCount -= 1
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
    /// Its place stays taken until ``release(_:)``: the descriptor of a connection that has ended is open as long as the program
    /// holds the right to reply to one of its requests.
    ///
    /// - Returns: True if the connection was in the table.
    mutating func remove(_ connection: PortConnection) -> Bool {
        connections.removeValue(forKey: connection.token) != nil
    }

    /// Removes all connections, and returns them.
    ///
    /// Reserved places stay reserved until the filter has decided.
    mutating func removeAll() -> [PortConnection] {
        let removed = Array(connections.values)
        connections = [:]
        return removed
    }
}
