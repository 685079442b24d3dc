internal import RunLoops

/// The free packets of one size, so that receiving a message allocates nothing.
final class PacketPool: Sendable {
    /// The largest number of packets that are kept: enough for nested handlers, and for a few messages that were passed on.
    private static let most = 8

    private let size: Int
    private let free = Guarded<[Packet]>([])

    /// Makes a pool.
    ///
    /// - Parameter body: The length of the largest body that a packet has room for.
    init(forBodiesOf body: Int) { size = Frame.headLength + body }

    /// Returns a packet for the kernel to fill.
    func take() -> Packet { free.withLock { $0.popLast() } ?? Packet(size: size) }

    /// Clears a packet, and keeps it for the next caller if there is room.
    func give(_ packet: Packet) {
        packet.clear()
        free.withLock { if $0.count < PacketPool.most { $0.append(packet) } }
    }
}
