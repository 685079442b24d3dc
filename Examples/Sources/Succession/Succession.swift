public import MessagePorts
public import RunLoops
import ServerSupport

/// The port through which a new server takes over from the old one.
///
/// 1. The new server asks the old server for its listening socket. From now on both servers accept clients.
/// 2. The new server reports that it serves. The old server stops accepting, and ends its port, which frees the name.
/// 3. The new server takes the name, and waits for the next server.
///
/// If the new server ends before the second step, the old server continues as if nothing had happened. At every moment the socket
/// is open in at least one of the servers, so no client is refused.
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
    private var port: MessagePort?
    /// Held until the old server's port has ended.
    private var predecessor: RemotePort?

    /// Looks up the server that has a name.
    ///
    /// - Parameter name: The name that the servers share.
    /// - Throws: An error if the port of that server cannot be reached.
    public init(_ name: PortName) throws {
        self.name = name
        do { predecessor = try RemotePort(named: name, before: .now + .seconds(5)) } catch {
            guard case .name(.unknown) = error else { throw error }
        }
    }

    /// Asks the old server for its socket.
    ///
    /// - Returns: The socket, or nil if there is no old server.
    /// - Throws: An error if the old server does not answer.
    public func socketOfPredecessor() throws -> OwnedDescriptor? {
        guard let predecessor else { return nil }
        var reply = try predecessor.request(id: Request.socket.rawValue, before: .now + .seconds(5))
        return reply.descriptors.takeFirst()
    }

    /// Tells the old server that this server serves, takes the name, and waits for the next server.
    ///
    /// - Parameters:
    ///   - socket: Called for each new server, to duplicate the socket of this server, which already accepts clients.
    ///   - onReady: Called when the next server can take over from this server.
    ///   - onSuccession: Called when the next server serves.
    /// - Throws: An error if the old server does not answer, or the name cannot be taken.
    public func serve(
        socket: @escaping () throws -> OwnedDescriptor, onReady: @escaping () -> Void,
        onSuccession: @escaping () -> Void
    ) throws {
        guard let predecessor else {
            try listen(socket, onSuccession)
            return onReady()
        }
        try predecessor.onInvalidation { [self] in
            self.predecessor = nil
            do { try listen(socket, onSuccession) } catch {
                // Clients are still served, but the next server cannot take over.
                return log("the name \(name) is not free: \(error)")
            }
            onReady()
        }
        try predecessor.send(id: Request.serving.rawValue)
    }

    /// Takes the name, and answers the next server.
    private func listen(
        _ duplicate: @escaping () throws -> OwnedDescriptor, _ onSuccession: @escaping () -> Void
    ) throws {
        let port = try MessagePort(name: name)
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
    }

    /// Ends the port, which frees the name.
    public func end() {
        port?.invalidate()
        port = nil
    }
}
