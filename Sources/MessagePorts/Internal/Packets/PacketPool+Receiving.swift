internal import RunLoops

extension PacketPool {
    /// The result of receiving one packet.
    enum Received {
        /// A well-formed packet, which is the caller's.
        case packet(Packet)
        /// No packet yet.
        case wouldBlock
        /// The end: no packet will arrive any more.
        case end
        /// A packet that breaks the rules. It was received and discarded, or it waits in the kernel; its connection is to be
        /// ended.
        case violation(PacketViolation)
        /// A packet with descriptors that the allowance does not let in now. It waits in the kernel.
        case exceedsAllowance
        /// A packet whose descriptors this process cannot all open.
        case outOfDescriptors
        /// The kernel has refused, and nothing was received.
        case failed(SystemError)
    }

    /// Receives one packet of a connection, and decodes it.
    ///
    /// Every reader of a connection receives here.
    ///
    /// - Parameters:
    ///   - socket: The socket. Only one thread at a time receives from it.
    ///   - allowance: The descriptors that the packet may bring now.
    ///   - limit: The number of descriptors that a permitted packet may carry.
    ///   - waits: True if it waits until there is a packet: ``PacketSocket/receive(into:_:waits:)``.
    /// - Returns: The result. Only a well-formed packet leaves the pool.
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
