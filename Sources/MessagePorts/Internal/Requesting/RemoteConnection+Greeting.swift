internal import RunLoops

// The first packets of a connection: hello and welcome.

extension RemoteConnection {
    static func sendHello(
        _ socket: borrowing PacketSocket, _ limits: Frame.Limits, _ deadline: ContinuousClock.Instant?
    ) throws {
        var backoff = ExponentialBackoff.sending
        while true {
            switch socket.send(Frame(.hello, limits: limits)) {
            // The socket is closed, but a refusal may be waiting to be read.
            case .sent, .closed: return
            case .outOfKernelResources:
                if let deadline, deadline <= .now { throw MessagePortError(.timedOut) }
                let next = ContinuousClock.now + backoff.begin()
                // If the port has closed its end, a refusal may be waiting to be read.
                if try socket.wait(for: .end, before: min(next, deadline ?? next)) { return }
            case .wouldBlock, .tooLarge:
                preconditionFailure("a new connection has room for its first packet")
            case .failed(let error): throw error
            }
        }
    }

    static func receiveWelcome(
        _ socket: borrowing PacketSocket, _ connection: inout ConnectionState, _ pool: PacketPool,
        _ deadline: ContinuousClock.Instant?
    ) throws -> Frame.Limits {
        while true {
            switch pool.receive(from: socket, .atMost(0), limit: 0) {
            case .packet(let packet):
                defer { pool.give(packet) }
                switch connection.receive(packet.frame) {
                case .greet: return packet.frame.limits
                case .close(let refusal): throw MessagePortError(closedFor: refusal)
                case .refuse, .drop, .answer, .deliver: throw MessagePortError(.notAPort)
                }
            case .wouldBlock:
                if try !socket.wait(for: .read, before: deadline) { throw MessagePortError(.timedOut) }
            case .end: throw MessagePortError(.ended)
            case .violation, .exceedsAllowance, .outOfDescriptors: throw MessagePortError(.notAPort)
            case .failed(let error): throw error
            }
        }
    }
}

extension MessagePortError {
    /// Makes the error for the reason that a port gave when it closed the connection.
    init(closedFor refusal: Frame.Refusal) {
        switch refusal {
        case .notAdmitted: self.init(.notAdmitted)
        case .malformed, .tooLarge: self.init(.notAPort)
        case .tooManyConnections: self.init(.tooManyConnections)
        case .tooSlow, .outOfResources: self.init(.ended)
        }
    }
}
