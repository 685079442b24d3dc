internal import RunLoops

extension PacketPool {
    /// The result of receiving one packet.
    enum Received {
        /// A well-formed packet, which the caller owns.
        case packet(Packet)
        /// No packet has arrived yet.
        case wouldBlock
        /// The end: no more packets will arrive.
        case end
        /// A packet that breaks the rules. The packet was received and discarded, or it waits in the kernel. The caller ends the
        /// connection.
        case violation(PacketViolation)
        /// A packet with more descriptors than the allowance permits at present. The packet still waits in the kernel.
        case exceedsAllowance
        /// A packet with more descriptors than this process can open.
        case outOfDescriptors
        /// The kernel has refused with an error that no other case covers. Nothing was received.
        case failed(SystemError)
    }

    /// Receives one packet of a connection, and decodes it.
    ///
    /// Every reader of a connection receives through this function.
    ///
    /// - Parameters:
    ///   - socket: The socket. Only one thread at a time receives from it.
    ///   - allowance: The number of descriptors that the packet may carry at present. A packet with more stays in the kernel.
    ///   - limit: The number of descriptors that a packet may ever carry. A packet with more breaks the rules.
    ///   - waits: True to block until there is a packet; see ``PacketSocket/receive(into:_:waits:)``.
    /// - Returns: The result. If it is not a well-formed packet, the memory for the packet is back in the pool.
    func receive(
        from socket: borrowing PacketSocket, _ allowance: DescriptorQuota.Allowance, limit: Int,
        waits: Bool = false
    ) -> Received {
        let packet = take()
        let received: Received
        // Safe: the packet is ours until it is passed on.
        switch unsafe socket.receive(into: packet.memory, allowance, waits: waits) {
        case .packet(let length, let descriptors):
            do {
                try packet.fill(length: length, descriptors)
                return .packet(packet)
            } catch { received = .violation(.malformed(error)) }
        case .wouldBlock: received = .wouldBlock
        case .end: received = .end
        case .tooLong(let length, _): received = .violation(.tooLong(length: length))
        case .exceedsAllowance:
            received =
                allowance == .atMost(limit)
                ? .violation(.tooManyDescriptors(limit: limit)) : .exceedsAllowance
        case .lacksDescriptors: received = .outOfDescriptors
        case .failed(let error): received = .failed(error)
        }
        give(packet)
        return received
    }
}
