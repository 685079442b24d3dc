internal import Synchronization

/// The part of a port that does not depend on the type of its messages.
///
/// Senders push nodes onto the mailbox of ``queue``. The receiver moves all nodes from the mailbox to the backlog of ``receiver``
/// in one step, and hands out their messages one by one.
///
/// When the port is empty, the receiver arms the mailbox with its ``ReadyNode``, the signal. The next sender gets the signal from
/// the mailbox, and sends it to wake the receiver.
@usableFromInline
final class PortCore: Sendable {
    /// The port's queue.
    ///
    /// It is the first property, because its layout keeps the data that senders write on other cache lines than the data that the
    /// receiver writes.
    let queue: PortQueue

    /// The bell of a signal port, which merges all waiting signals into a single one.
    ///
    /// The mailbox of a signal port contains no messages, only notices, which report that the last send right was released.
    let bell = Doorbell()
    /// True if the port carries signals instead of messages.
    let isSignalPort: Bool

    private let closedFlag = Atomic<Bool>(false)
    /// The number of replies that arrived after their requester had stopped waiting.
    private let lateReplies = Atomic<Int>(0)
    let rightsRecord = Guarded(RightsRecord())
    let receiver = PortReceiver()
    let origin: SourceLocation
    let messageType: MessageType

    /// The operations on a port's messages that depend on the type of the messages.
    struct MessageType: Sendable {
        /// Destroys a message.
        let destroy: @Sendable (Node.Slot) -> Void
        /// Moves a message into an empty node.
        let move: @Sendable (Node.Slot, Node) -> Void
    }

    init(
        limit: Int?, isSignalPort: Bool, origin: SourceLocation,
        destroy: @escaping @Sendable (Node.Slot) -> Void,
        move: @escaping @Sendable (Node.Slot, Node) -> Void
    ) {
        queue = PortQueue(limit: UInt64(limit ?? 0))
        self.isSignalPort = isSignalPort
        self.origin = origin
        messageType = MessageType(destroy: destroy, move: move)
    }

    deinit {
        destroyAll(queue.mailbox.close().nodes)
        destroyBacklog()
    }

    // MARK: - State

    /// True after the port has ended.
    var isClosed: Bool { closedFlag.load(ordering: .acquiring) }

    /// The value of ``isClosed``, loaded with sequentially consistent ordering, like all changes of the port's ``Claim``.
    var isClosedInOrder: Bool { closedFlag.load(ordering: .sequentiallyConsistent) }

    /// Marks the port as ended.
    ///
    /// - Returns: False if the port was marked before.
    func markClosed() -> Bool { !closedFlag.exchange(true, ordering: .sequentiallyConsistent) }

    func countLateReply() { lateReplies.add(1, ordering: .relaxed) }

    var lateReplyCount: Int { lateReplies.load(ordering: .relaxed) }

    /// The number of messages that wait; for a signal port, 1 if a signal waits.
    var messageCount: Int {
        if isClosed { return 0 }
        return isSignalPort ? (bell.isRung ? 1 : 0) : queue.messageCount
    }

    // MARK: - Sending

    /// The reason for which a message was not sent.
    @usableFromInline
    enum Refusal: Sendable {
        case timedOut
        case invalid
        case wouldDeadlock
        case cancelled
    }

    /// Releases a node whose message was moved out.
    @usableFromInline
    static func discard(_ node: Node) {
        var releaser = NodeReleaser()
        releaser.release(node)
    }

    /// Queues one message; if the port has no room for it, blocks until there is room.
    ///
    /// - Returns: Nil if the message was queued; otherwise the reason for the refusal. In that case the caller still owns the node.
    @usableFromInline
    func send(_ node: Node) -> Refusal? {
        // This is separate from the function with a deadline, because passing an instant costs more than the rest of the call.
        send(Mailbox.Chain(node)) { .never }
    }

    /// Queues one message; if the port has no room for it, blocks until there is room or the deadline passes.
    @usableFromInline
    func send(_ node: Node, before deadline: ContinuousClock.Instant) -> Refusal? {
        send(Mailbox.Chain(node)) { Moment(deadline) }
    }

    /// Queues several messages, either all or none; blocks until there is room for all of them or the deadline passes.
    ///
    /// The nodes of the messages are linked from the newest to the oldest.
    @usableFromInline
    func send(_ newest: Node?, _ count: Int, before deadline: ContinuousClock.Instant?) -> Refusal? {
        guard let newest else { return nil }
        return send(Mailbox.Chain(newest: newest, count: count)) { Moment(ofDeadline: deadline) }
    }

    @inline(__always)
    private func send(_ chain: Mailbox.Chain, before deadline: () -> Moment) -> Refusal? {
        noteSend(chain)
        switch trySend(chain) {
        case .sent: return nil
        case .closed: return .invalid
        case .full: return waitForRoom(chain, deadline())
        }
    }

    /// Records in the flight recorder that messages are about to be sent; in a forked child, ends the program instead.
    @inline(__always)
    func noteSend(_ chain: Mailbox.Chain) {
        if Recorder.mayRecord { noteRecordedSend(chain) }
    }

    @inline(never)
    private func noteRecordedSend(_ chain: Mailbox.Chain) {
        Fork.look("Port.send")
        queue.mailbox.noteSend(chain, origin)
    }

    /// The outcome of a send that does not wait.
    enum Attempt {
        case sent
        /// The port has ended.
        case closed
        /// The port has too little room, or other senders are waiting already.
        case full
    }

    /// Queues messages and signals the receiver, if there is room for the messages and no sender waits.
    @inline(__always)
    func trySend(_ chain: Mailbox.Chain) -> Attempt {
        guard queue.hasNoLine else { return .full }
        switch queue.push(chain) {
        case .queued: return .sent
        case .queuedToArmed(let signal):
            if let signal { ReadyNode.send(signal) }
            return .sent
        case .closed: return .closed
        case .full, .raced: return .full
        }
    }

    /// Rings the bell of a signal port, unless the port has ended.
    @usableFromInline
    func ring() -> Refusal? {
        Fork.check("Port.send")
        racePoint(.closedLooks)
        if isClosed { return .invalid }
        if let signal = bell.ring() { ReadyNode.send(signal) }
        return nil
    }
}
