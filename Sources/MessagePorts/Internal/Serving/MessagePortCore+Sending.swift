internal import CRunLoops
internal import RunLoops

// Messages to peers, from any thread.

extension MessagePortCore {
    /// Returns the connection of a peer; nil if the connection has ended, or if the peer is a peer of another port.
    func connection(of peer: MessagePort.Peer) -> PortConnection? {
        // A peer of another port can have the same connection number.
        guard let connection = connection(peer.id), connection.peer == peer else { return nil }
        return connection
    }

    /// Sends a message to a peer, or keeps the message until the peer has room.
    ///
    /// - Returns: False if the peer has no room, and the messages that are kept for the peer are at a limit.
    func trySend(
        _ body: RawSpan, in bytes: [UInt8]?, id: UInt32, _ descriptors: [CInt], to peer: MessagePort.Peer
    ) throws(MessagePortError) -> Bool {
        Fork.check("MessagePort.send")
        // If the thread ended here, a packet would be neither sent nor kept, and the duplicates of its descriptors would stay open.
        let cancellation = ThreadCancellation.disable()
        defer { cancellation.restore() }
        do throws(MessagePortError) {
            guard let connection = connection(of: peer) else { throw MessagePortError(.ended) }
            return try connection.push(Frame(kind: .message, id: id), body, in: bytes, descriptors)
        } catch { throw error.about("message to \(peer.credentials)") }
    }
}
