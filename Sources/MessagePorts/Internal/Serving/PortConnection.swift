internal import CRunLoops
internal import Glibc
internal import RunLoops
internal import Synchronization

/// The port's end of one connection.
///
/// The port's loop reads the connection, and any thread sends replies and messages.
final class PortConnection: Sendable {
    let peer: MessagePort.Peer
    let socket: PacketSocket
    /// The quota for the peer's descriptors.
    ///
    /// A received descriptor counts until it is taken out of its message or closed.
    let quota: DescriptorQuota

    /// The state that decides which frames are allowed to arrive.
    ///
    /// `nonisolated(unsafe)`: guarded by ``MessagePortCore/claim``, so that only the thread of the port's loop accesses it.
    nonisolated(unsafe) var state: ConnectionState

    let set: EpollSet
    private let counters: PortCounters
    /// The packets that the port keeps for all peers.
    private let kept: KeptPackets
    /// The port, which counts this connection until the last right to reply is released; nil in a test of a connection alone.
    private let port: WeakReference?
    let outbox: Guarded<Outbox>

    /// True once the program has closed the connection with ``MessagePort/disconnect(_:)``.
    ///
    /// The connection is not read after that.
    private let wasCutOff = Atomic(false)

    /// The time for which the kernel can be out of resources for the first packet of the backlog before the connection is closed.
    ///
    /// The packet can be a reply. If the connection stayed open, the requester would wait for the reply forever.
    static let patience = Duration.seconds(60)

    /// The moment at which the kernel first had no resources to send the first packet of the backlog; nil if this has not happened.
    ///
    /// `nonisolated(unsafe)`: guarded by ``MessagePortCore/claim``, so that only the thread of the port's loop accesses it.
    nonisolated(unsafe) var refusedSince: Moment?

    struct Outbox: Sendable {
        var backlog: PacketBacklog
        /// True while the backlog waits for room in the socket.
        ///
        /// During that time, the port's epoll set reports when the socket has room.
        var awaitsRoom = false
        /// The reasons for which the connection is not read at present.
        var holds: Holds = []
        /// The events that the port's epoll set reports for the connection.
        var interest = EpollSet.Interest.reading
        /// The limits of the other end, or nil until it has sent them.
        var limits: Frame.Limits?
        var isEnded = false
    }

    init(
        _ socket: consuming PacketSocket, _ peer: MessagePort.Peer, _ limits: MessagePort.Options,
        _ set: EpollSet, _ counters: PortCounters, _ kept: KeptPackets? = nil, of port: WeakReference? = nil
    ) {
        quota = socket.quota ?? DescriptorQuota(of: peer.credentials)
        self.socket = socket
        self.peer = peer
        self.set = set
        self.counters = counters
        self.kept = kept ?? KeptPackets(limits)
        self.port = port
        unsafe state = ConnectionState(.server, limits: limits.advertised)
        outbox = Guarded(Outbox(backlog: PacketBacklog(PacketBacklog.Limits(limits))))
    }

    deinit {
        // In a forked child, the port's lock may be held by a thread that does not exist there.
        if !Fork.isChild { port?.object(as: MessagePortCore.self)?.releasePlace(of: peer.credentials) }
    }

    /// The token that the set reports for this connection.
    var token: UInt64 { peer.id }

    /// True once the greeting of the other end has arrived.
    var wasAdmitted: Bool { outbox.withLock { $0.limits != nil } }

    var isEnded: Bool { outbox.withLock { $0.isEnded } }

    /// Records the limits that the other end has sent in its greeting.
    func greeted(_ limits: Frame.Limits) {
        outbox.withLock { $0.limits = limits }
    }

    // MARK: - Sending, from any thread

    func reply(
        to request: UInt64, _ body: RawSpan, id: UInt32, descriptors: [CInt]
    ) throws(MessagePortError) {
        Fork.check("MessagePort.ReplyRight.reply")
        let (limits, isFree) = outbox.withLock { ($0.isEnded ? nil : $0.limits, $0.backlog.isEmpty) }
        guard let limits else { throw MessagePortError(.ended) }
        try limits.check(body, descriptors)
        _ = try send(Frame(kind: .reply, id: id, number: request), body, descriptors, atOnce: isFree)
    }

    /// Sends a message that is not a reply.
    ///
    /// - Parameters:
    ///   - frame: The head.
    ///   - body: The bytes.
    ///   - bytes: An array with the same bytes, which the backlog can keep; nil if the backlog must copy the bytes.
    ///   - descriptors: The descriptors to duplicate for the peer.
    /// - Returns: False if the backlog has no room.
    /// - Throws: The reason that the message cannot be sent at all.
    func push(
        _ frame: Frame, _ body: RawSpan, in bytes: [UInt8]?, _ descriptors: [CInt]
    ) throws(MessagePortError) -> Bool {
        guard let limits = outbox.withLock({ $0.isEnded ? nil : $0.limits }) else {
            throw MessagePortError(.ended)
        }
        try limits.check(body, descriptors)
        let size = BackloggedPacket.size(of: body.byteCount, descriptors.count)
        // The room is checked before the descriptors are duplicated, so that a peer that reads nothing costs little.
        let (isFree, hasRoom) = outbox.withLock { outbox in
            (outbox.backlog.isEmpty, outbox.backlog.hasRoom(forMessageOf: size, descriptors.count))
        }
        if !hasRoom { return false }
        return try send(frame, body, in: bytes, descriptors, atOnce: isFree)
    }

    /// Notifies the requester that no reply will come, because the right to reply was released unused.
    func declineReply(to request: UInt64) {
        if Fork.isChild { return }
        // If this cannot be sent, the connection has ended, which the requester notices, too.
        do { try send(Frame(kind: .noReply, number: request)) } catch {}
    }

    /// Sends a packet without a body, or adds it to the backlog.
    func send(_ frame: Frame) throws(MessagePortError) {
        let (isEnded, isFree) = outbox.withLock { ($0.isEnded, $0.backlog.isEmpty) }
        if isEnded { throw MessagePortError(.ended) }
        _ = try send(frame, RawSpan(), [], atOnce: isFree)
    }

    /// Sends a packet immediately if the backlog is empty and the socket has room; otherwise adds the packet to the backlog.
    ///
    /// - Returns: False if the packet is a message for which the backlog has no room.
    private func send(
        _ frame: Frame, _ body: RawSpan, in bytes: [UInt8]? = nil, _ descriptors: [CInt], atOnce: Bool
    ) throws(MessagePortError) -> Bool {
        // The right to reply is used up. If the thread ended here, the requester would wait forever.
        let cancellation = ThreadCancellation.disable()
        defer { cancellation.restore() }
        if atOnce {
            switch socket.sendMakingRoom(frame, body: body, descriptors: descriptors) {
            case .sent: return true
            // If the kernel is out of resources, the packet is added to the backlog, too. The socket has room, so the loop soon
            // tries to send the packet, and retries with pauses.
            case .wouldBlock, .outOfKernelResources: break
            case .closed: throw MessagePortError(.ended)
            case .tooLarge(let limit): throw .tooLarge(limit: limit - Frame.headLength)
            case .failed(let error): throw .system(error)
            }
        }
        guard let place = try keep(frame, body.byteCount, descriptors.count) else { return false }
        let packet: BackloggedPacket
        do {
            // Safe: the bytes are copied while the span is valid.
            let bytes = unsafe bytes ?? body.withUnsafeBytes { body in unsafe Array(body) }
            packet = try BackloggedPacket(frame, bytes, descriptors, in: place)
        } catch { throw .system(error) }
        return try addToBacklog(packet)
    }

    /// Takes a place among the packets that the port keeps for all peers.
    ///
    /// - Returns: Nil if the packet is a message for which there is no room. When this peer has room again, its program is told.
    private func keep(
        _ frame: Frame, _ byteCount: Int, _ descriptorCount: Int
    ) throws(MessagePortError) -> KeptPackets.Place? {
        let size = BackloggedPacket.size(of: byteCount, descriptorCount)
        let isFirst = outbox.withLock { $0.backlog.isEmpty }
        switch kept.add(
            .init(bytes: size, descriptors: descriptorCount), of: quota.group.key, isFirst: isFirst)
        {
        case .kept(let place): return place
        // The kernel would refuse the descriptors soon.
        case .tooManyDescriptors: throw .system(SystemError(call: "fcntl", code: EMFILE))
        case .tooManyBytes:
            if frame.kind == .message {
                outbox.withLock { $0.backlog.refuseMessage() }
                return nil
            }
            if end() { counters.add { $0.unreadPeers += 1 } }
            throw MessagePortError(.ended)
        }
    }

    private func addToBacklog(_ packet: BackloggedPacket) throws(MessagePortError) -> Bool {
        enum Result { case kept, ended, overflowing }
        let result: Result = outbox.withLock { outbox in
            if outbox.isEnded { return .ended }
            let wasEmpty = outbox.backlog.isEmpty
            if !outbox.backlog.append(packet) { return .overflowing }
            if wasEmpty { awaitRoom(true, &outbox) }
            return .kept
        }
        switch result {
        case .kept: return true
        case .ended: throw MessagePortError(.ended)
        case .overflowing:
            if packet.frame.kind == .message { return false }
            // The loop finds that the connection is closed, and removes it.
            if end() { counters.add { $0.unreadPeers += 1 } }
            throw MessagePortError(.ended)
        }
    }

    /// Makes the port's epoll set report when the socket has room, or ends these reports.
    func awaitRoom(_ awaits: Bool, _ outbox: inout Outbox) {
        outbox.awaitsRoom = awaits
        watch(&outbox)
    }

    // MARK: - End

    /// True once the program has closed the connection with ``MessagePort/disconnect(_:)``.
    var isCutOff: Bool { wasCutOff.load(ordering: .relaxed) }

    /// Ends the connection, because the program has closed it.
    ///
    /// The loop does not read the connection after that. It finds that the connection is closed, and removes it.
    func cutOff() {
        wasCutOff.store(true, ordering: .relaxed)
        _ = end()
    }

    /// Ends the connection, for this process and for the peer.
    ///
    /// The descriptor of the connection is closed when the last right to reply is released.
    ///
    /// - Returns: True if the connection was open until now.
    func end() -> Bool {
        let ended = outbox.withLock { outbox -> (wasOpen: Bool, backlog: PacketBacklog) in
            defer {
                outbox.isEnded = true
                _ = outbox.backlog.removeAll()
            }
            return (!outbox.isEnded, outbox.backlog)
        }
        if ended.wasOpen { socket.shutDown() }
        return ended.wasOpen
    }
}
