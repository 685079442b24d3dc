internal import CThreads
internal import RunLoops

/// The port's end of one connection: what came is read by the port's loop, replies are sent by any thread.
final class PortConnection: Sendable {
    let peer: MessagePort.Peer
    let socket: PacketSocket
    /// The descriptors that the peer has sent and that are neither taken nor closed.
    let account: DescriptorAccount

    /// What may come, and when.
    ///
    /// `nonisolated(unsafe)`: guarded by the port's claim.
    nonisolated(unsafe) var life: ConnectionLife

    private let set: EpollSet
    private let counters: PortCounters
    private let outbox: Guarded<Outbox>

    /// For how long the kernel may have no means to send a reply until the connection is given up: the requester hears of
    /// its end then, and would wait for ever otherwise.
    static let patience = Duration.seconds(60)

    /// Since when the kernel has had no means for the first reply that is kept; nil if it has not been tried in vain.
    ///
    /// `nonisolated(unsafe)`: guarded by the port's claim.
    nonisolated(unsafe) private var lackingSince: Moment?

    private struct Outbox: Sendable {
        var kept: KeptReplies
        /// True while the set reports that there is room for a reply: kept ones wait for that.
        var awaitsRoom = false
        /// True while nothing is read: the next packet carries descriptors, and none may come now.
        var isHeldBack = false
        /// What the set reports of the connection.
        var interest = EpollSet.Interest.reading
        /// What the other end takes; nil until it has said so.
        var limits: Frame.Limits?
        var isEnded = false
    }

    init(
        _ socket: consuming PacketSocket, _ peer: MessagePort.Peer, _ limits: MessagePort.Limits,
        _ set: EpollSet,
        _ counters: PortCounters
    ) {
        account = socket.account ?? DescriptorAccount(of: peer.credentials)
        self.socket = socket
        self.peer = peer
        self.set = set
        self.counters = counters
        unsafe life = ConnectionLife(.server, limits: limits.told)
        outbox = Guarded(Outbox(kept: KeptReplies(limit: limits.keptReplies)))
    }

    /// What the set reports this connection by.
    var token: UInt64 { peer.connection }

    /// Whether the other end has said what it is.
    var wasAdmitted: Bool { outbox.withLock { $0.limits != nil } }

    var isEnded: Bool { outbox.withLock { $0.isEnded } }

    /// The other end has said what it takes.
    func greeted(_ limits: Frame.Limits) {
        outbox.withLock { $0.limits = limits }
    }

    // MARK: - Reading

    /// Has the set report nothing that can be read, until ``readOn()``.
    ///
    /// The loop that has the port's claim only.
    ///
    /// - Returns: False if that was so already, or the connection has ended.
    func holdBack() -> Bool {
        outbox.withLock { outbox in
            if outbox.isEnded || outbox.isHeldBack { return false }
            outbox.isHeldBack = true
            watch(&outbox)
            return true
        }
    }

    /// Has the set report again what can be read.
    func readOn() {
        outbox.withLock { outbox in
            outbox.isHeldBack = false
            watch(&outbox)
        }
    }

    // MARK: - Sending, from any thread

    func reply(
        to request: UInt64, _ body: RawSpan, id: UInt32, descriptors: [CInt]
    ) throws(MessagePortError) {
        Fork.check("MessagePort.ReplyRight.reply")
        let (limits, isFree) = outbox.withLock { ($0.isEnded ? nil : $0.limits, $0.kept.isEmpty) }
        guard let limits else { throw .ended }
        try limits.check(body, descriptors)
        try send(Frame(kind: .reply, id: id, number: request), body, descriptors, atOnce: isFree)
    }

    /// A right to reply has gone unused.
    func tellThatThereIsNoReply(to request: UInt64) {
        if Fork.isChild { return }
        // Where that cannot be said any more, the connection is over, which says the same.
        do { try send(Frame(kind: .noReply, number: request)) } catch {}
    }

    /// Sends a packet without a body, or keeps it until there is room.
    func send(_ frame: Frame) throws(MessagePortError) {
        let (isEnded, isFree) = outbox.withLock { ($0.isEnded, $0.kept.isEmpty) }
        if isEnded { throw .ended }
        try send(frame, RawSpan(), [], atOnce: isFree)
    }

    /// Sends a packet at once, if none is kept and there is room, or keeps it.
    private func send(
        _ frame: Frame, _ body: RawSpan, _ descriptors: [CInt], atOnce: Bool
    ) throws(MessagePortError) {
        // The right to reply is used up: a thread that ended in here would leave the requester waiting.
        let cancellation = ThreadCancellation.disable()
        defer { cancellation.restore() }
        if atOnce {
            switch socket.sendMakingRoom(frame, body: body, descriptors: descriptors) {
            case .sent: return
            // Means are waited for as room is: the loop finds that there is room, tries again, and takes it from there.
            case .wouldBlock, .lacksMeans: break
            case .closed: throw .ended
            case .tooLarge(let limit): throw .tooLarge(limit: limit - Frame.headLength)
            case .failed(let error): throw .system(error)
            }
        }
        let reply: KeptReply
        do { reply = try KeptReply(frame, body, descriptors) } catch { throw .system(error) }
        try keep(reply)
    }

    private func keep(_ reply: KeptReply) throws(MessagePortError) {
        enum Kept { case kept, ended, overflowing }
        let kept: Kept = outbox.withLock { outbox in
            if outbox.isEnded { return .ended }
            let wasEmpty = outbox.kept.isEmpty
            if !outbox.kept.keep(reply) { return .overflowing }
            if wasEmpty { awaitRoom(true, &outbox) }
            return .kept
        }
        switch kept {
        case .kept: return
        case .ended: throw .ended
        case .overflowing:
            // The loop finds the connection hung up, and lets go of it.
            if end() { counters.add { $0.unreadPeers += 1 } }
            throw .ended
        }
    }

    /// Has the set report that there is room for a reply, or report that no more.
    private func awaitRoom(_ awaits: Bool, _ outbox: inout Outbox) {
        outbox.awaitsRoom = awaits
        watch(&outbox)
    }

    /// States what the set is to report.
    ///
    /// The one system call that is made under the lock of the outbox. If it was made afterwards, a thread that keeps the first
    /// reply could say "writing" after the loop has sent that reply and said "no more"; or the other way round, and the
    /// reply would never leave.
    private func watch(_ outbox: inout Outbox) {
        var interest: EpollSet.Interest = outbox.awaitsRoom ? .writing : []
        // The kernel always reports the end. While nothing is read that would be without end, unless it is reported once.
        interest.formUnion(outbox.isHeldBack ? .edge : .reading)
        if outbox.isEnded || outbox.interest == interest { return }
        outbox.interest = interest
        do { try set.change(socket.descriptor, interest, token: token) } catch {
            preconditionFailure("what is in the set can be changed there: \(error)")
        }
    }

    /// What has become of the kept replies.
    enum Resent: Equatable {
        /// They are sent, or wait for room, which the set reports; or the connection is over.
        case done
        /// The kernel has had no means: to be tried again.
        case lacksMeans
        /// That was so for too long, or the kernel has refused: the connection is over.
        case failed
    }

    /// Sends what was kept, as far as there is room now.
    ///
    /// By whoever has the port's claim.
    ///
    /// - Parameters:
    ///   - now: When that is.
    ///   - sent: Called for each reply that was sent.
    /// - Returns: What has become of them.
    func sendKept(now: Moment, _ sent: () -> Void = {}) -> Resent {
        while let reply = outbox.withLock({ $0.kept.first }) {
            // Only this thread takes replies out, so the first one stays the first.
            let bytes = reply.bytes
            // Safe: bytes have nothing between them.
            let body = unsafe bytes.span.bytes
            switch socket.sendMakingRoom(reply.frame, body: body, descriptors: reply.descriptors) {
            case .wouldBlock:
                outbox.withLock { awaitRoom(true, &$0) }
                return .done
            case .lacksMeans:
                let since = unsafe lackingSince ?? now
                unsafe lackingSince = since
                if since.advanced(by: PortConnection.patience.nanosecondsRoundedUp) <= now {
                    _ = end()
                    return .failed
                }
                // There is room, which would be reported without end.
                outbox.withLock { awaitRoom(false, &$0) }
                return .lacksMeans
            case .closed:
                _ = end()
                return .done
            // What cannot be sent now cannot be later: the requester would wait for ever, unless it hears of its end.
            case .tooLarge, .failed:
                _ = end()
                return .failed
            case .sent:
                unsafe lackingSince = nil
                sent()
                outbox.withLock { outbox in
                    if outbox.isEnded { return }
                    outbox.kept.removeFirst()
                    if outbox.kept.isEmpty { awaitRoom(false, &outbox) }
                }
            }
        }
        return .done
    }

    // MARK: - End

    /// Ends the connection for both ends; its descriptor is closed when the last right to reply has gone.
    ///
    /// - Returns: Whether it was there until now.
    func end() -> Bool {
        let replies = outbox.withLock { outbox -> (wasOpen: Bool, kept: KeptReplies) in
            defer {
                outbox.isEnded = true
                _ = outbox.kept.removeAll()
            }
            return (!outbox.isEnded, outbox.kept)
        }
        if replies.wasOpen { socket.shutDown() }
        return replies.wasOpen
    }
}

extension Frame.Limits {
    /// Throws if the other end would not take this.
    func check(_ body: RawSpan, _ descriptors: [CInt]) throws(MessagePortError) {
        if body.byteCount > Int(bodyLength) { throw .tooLarge(limit: Int(bodyLength)) }
        if descriptors.count > Int(descriptorCount) { throw .tooManyDescriptors(limit: Int(descriptorCount)) }
    }
}

/// What a port counts.
final class PortCounters: Sendable {
    private let counts = Guarded(MessagePort.Statistics())

    /// Those of the statistics: counted without the lock, by the thread that has the port's claim.
    let messages = Counter()

    func add(_ change: (inout MessagePort.Statistics) -> Void) { counts.withLock { change(&$0) } }

    var statistics: MessagePort.Statistics {
        var statistics = counts.withLock { $0 }
        statistics.messages = messages.value
        return statistics
    }
}
