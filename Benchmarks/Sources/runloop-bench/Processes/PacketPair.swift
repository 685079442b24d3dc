/// Two processes that send each other packets by one means.
protocol PacketPair: PingPong {
    /// Sends messages of 64 bytes, and then a question whose answer says how many have come: that one included.
    ///
    /// - Parameter count: How many messages.
    /// - Returns: The answer.
    /// - Throws: Why the other process cannot be reached.
    func stream(_ count: Int) throws -> Int
}

/// The means that are compared.
enum PacketSubject: String, TripSubject {
    case bare = "bare SEQPACKET pair (C)"
    case watched = "bare pair (C), an epoll at each end"
    case ports = "RemotePort and MessagePort"

    /// Ours or the yardstick.
    var role: Chart.Role { self == .ports ? .ours : .yardstick }

    /// Starts the other process.
    func make(rally: Rally) throws -> any PacketPair {
        switch self {
        case .bare: try BarePacketPair(watches: false, rally: rally)
        case .watched: try BarePacketPair(watches: true, rally: rally)
        case .ports: try PortPacketPair(rally: rally)
        }
    }
}
