internal import RunLoops

/// The free packets of one size, kept for reuse so that receiving a message usually allocates nothing.
final class PacketPool: Sendable {
    /// The largest number of free packets that are kept.
    ///
    /// It is enough for nested handlers, and for a few messages that handlers have passed on.
    private static let most = 8

    private let size: Int
    private let free = Guarded<[Packet]>([])

    /// Makes a pool.
    ///
    /// - Parameter body: The length of the largest body that a packet has room for.
    init(forBodiesOf body: Int) { size = Frame.headLength + body }

    /// Returns a free packet, or makes one if the pool is empty.
    func take() -> Packet { free.withLock { $0.popLast() } ?? Packet(size: size) }

    /// Discards the descriptors of a packet, and keeps the packet for reuse unless the pool is full.
    func give(_ packet: Packet) {
        packet.clear()
        free.withLock { if $0.count < PacketPool.most { $0.append(packet) } }
    }
}
