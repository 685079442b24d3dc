public import MessagePorts
public import RunLoops
import ServerSupport

/// The port through which a new server takes over from the old one.
///
/// 1. The new server takes its turn. If another new server has the turn, this one waits until that one serves, or has ended.
/// 2. The new server asks the old server for its listening socket. From now on both servers accept clients.
/// 3. The new server reports that it serves. The old server stops accepting, and ends its port, which frees the name.
/// 4. The new server takes the name, ends its turn, and waits for the next server.
///
/// If the new server ends before the third step, the old server continues as if nothing had happened. If the old server ends before
/// it has sent its socket, the new server starts with a socket of its own. At every moment after the second step the socket is open
/// in at least one of the servers, so no client is refused. Only the server that has its turn takes the name, so that no server
/// serves without it.
///
/// > Thread safety: the thread of the loop.
public final class Succession {
    /// The requests to the port.
    private enum Request: UInt32 {
        /// Send the listening socket.
        case socket = 1
        /// Stop accepting, because the new server serves.
        case serving = 2
    }

    private let name: PortName
    /// The right to take over, which one process has at a time; nil once this server has the name.
    private var turn: MessagePort?
    private var port: MessagePort?
    /// Held until the old server's port has ended.
    private var predecessor: RemotePort?

    /// Waits for this server's turn, and looks up the server that has a name.
    ///
    /// - Parameter name: The name that the servers share.
    /// - Throws: An error if another new server does not get ready, or if the port of the old server cannot be reached.
    public init(_ name: PortName) throws {
        self.name = name
        turn = try Succession.takeTurn(PortName("\(name).next"))
        predecessor = try Succession.lookUp(name)
    }

    private static func takeTurn(_ name: PortName) throws(MessagePortError) -> MessagePort {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            do throws(MessagePortError) { return try MessagePort(named: name) } catch {
                guard error.nameError?.reason == .taken, .now < deadline else { throw error }
            }
            // Nobody serves this port, so that the attempt to connect ends when the other server ends its turn.
            do throws(MessagePortError) { _ = try RemotePort(named: name, before: deadline) } catch {}
        }
    }

    private static func lookUp(_ name: PortName) throws(MessagePortError) -> RemotePort? {
        do throws(MessagePortError) { return try RemotePort(named: name, before: .now + .seconds(5)) } catch {
            // A port that ends while it is looked up has freed its name.
            if error.nameError?.reason == .unknown || error.reason == .ended { return nil }
            throw error
        }
    }

    /// Asks the old server for its socket.
    ///
    /// - Returns: The socket, or nil if there is no old server.
    /// - Throws: An error if the old server does not answer.
    public func socketOfPredecessor() throws -> OwnedDescriptor? {
        guard let predecessor else { return nil }
        do throws(MessagePortError) {
            var reply = try predecessor.request(id: Request.socket.rawValue, before: .now + .seconds(5))
            return reply.descriptors.takeFirst()
        } catch {
            // The old server has ended before it could answer, so that this server is the first one.
            guard error.reason == .ended else { throw error }
            self.predecessor = nil
            return nil
        }
    }

    /// Tells the old server that this server serves, takes the name, and waits for the next server.
    ///
    /// - Parameters:
    ///   - socket: Called for each new server, to duplicate the socket of this server, which already accepts clients.
    ///   - onReady: Called when the next server can take over from this server.
    ///   - onSuccession: Called when the next server serves, or when another server has the name.
    /// - Throws: An error if the old server does not answer, or the name cannot be taken.
    public func serve(
        socket: @escaping () throws -> OwnedDescriptor, onReady: @escaping () -> Void,
        onSuccession: @escaping () -> Void
    ) throws {
        guard let predecessor else {
            try listen(socket, onSuccession)
            return onReady()
        }
        try predecessor.addInvalidationHandler { [self] in
            self.predecessor = nil
            do { try listen(socket, onSuccession) } catch {
                // No server can take over from a server without the name, and clients would meet two servers. So this one stops.
                log("the name \(name) is not free: \(error)")
                return onSuccession()
            }
            onReady()
        }
        do throws(MessagePortError) { try predecessor.send(id: Request.serving.rawValue) } catch {
            // If the old server has ended already, its name is free.
            guard error.reason == .ended else { throw error }
        }
    }

    /// Takes the name, ends the turn, and answers the next server.
    private func listen(
        _ duplicate: @escaping () throws -> OwnedDescriptor, _ onSuccession: @escaping () -> Void
    ) throws {
        let port = try MessagePort(named: name)
        self.port = port
        try RunLoop.current.add(port, forMode: .common) { [unowned self] message in
            switch Request(rawValue: message.id) {
            case .socket where message.isRequest:
                do {
                    let socket = try duplicate()
                    try message.reply(descriptors: [socket.descriptor])
                } catch { log("the socket was not handed over: \(error)") }
            case .serving:
                end()
                onSuccession()
            case .socket, nil: break
            }
        }
        turn?.invalidate()
        turn = nil
    }

    /// Ends the port, which frees the name.
    public func end() {
        port?.invalidate()
        port = nil
    }
}
